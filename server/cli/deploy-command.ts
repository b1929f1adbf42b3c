import { resolve } from 'node:path';
import { hasChanges, planLines, sendSeed } from './apply-command.ts';
import { defineCommand, flag, text } from './command.ts';
import { findDevProject } from './dev-project.ts';
import { findResource, platformOptions } from './instance-options.ts';
import { endpointRows, readPublished } from './published-endpoints.ts';
import { rowLines } from './terminal.ts';

const ENVIRONMENT_ARGUMENT = 'path of an environment, such as /demo/website/development';

const NOTES = `
A project is what \`dev\` starts: a folder with a world file, or with the code of one lambda. The platform reads the code in its folder at each
call, so later edits need no command; after changes of the world file or .env, deploy again.`;

export const deployCommand = defineCommand({
  name: 'deploy',
  description: 'deploy the project of a folder to the running platform, and print the addresses of its endpoints',
  arguments: [['[folder]', 'folder or world file of the project (default: found from the current folder upward)']],
  options: {
    environment: text(
      '--environment <PATH>',
      'existing environment for a lambda without a world file (default: /NAME/local/dev)',
    ),
    dryRun: flag('--dry-run', 'only print what would change'),
    ...platformOptions,
  },
  notes: NOTES,
  async run({ options: { environment, dryRun }, terminal, connect, print }, named) {
    const project = findDevProject(resolve(terminal.folder, named ?? '.'), named !== undefined);
    const seed = await project.read(terminal.env, environment);
    const client = await connect();
    // A seed would try to create it.
    if (environment !== undefined) await findResource(client, ['environments'], environment, ENVIRONMENT_ARGUMENT);
    const applied = await sendSeed(client, seed, { dryRun, prune: false });
    const changeLines = hasChanges(applied) ? [...planLines(applied, terminal)] : ['nothing has changed'];
    if (dryRun) return print(applied, changeLines);
    const published = await readPublished(client, applied);
    print({ ...applied, ...published }, [...changeLines, ...rowLines(endpointRows(published))]);
  },
});
