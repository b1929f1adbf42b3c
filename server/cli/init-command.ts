import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readManifest } from '../library/lambda-project.ts';
import { SHELL_COMMAND } from '../model/shell-command.ts';
import { UserError } from '../platform/config.ts';
import { makeFolder } from '../system/make-folder.ts';
import { nearestFolderWith } from '../system/nearest-folder.ts';
import { packageFile } from '../system/package-file.ts';
import { defineCommand, flag } from './command.ts';

const FILES = ['world.yaml', 'test/lead.test.mjs', 'package.json', '.gitignore'];
/** Files that a repository usually has. They are left as they are. */
const KEPT_FILES = ['package.json', '.gitignore'];

const NOTES = `
The project has a world file, a lambda that sends a contact form to the CRM, its endpoint /web/lead, and a test. An existing package.json or
.gitignore is left as it is; if another file exists, nothing is written.`;

export const initCommand = defineCommand({
  name: 'init',
  description: 'write a project to begin with: a form, its lambda, its endpoint and a test',
  arguments: [['[folder]', 'folder of the project (default: the current folder)']],
  options: { typescript: flag('--typescript', 'write the lambda in TypeScript') },
  notes: NOTES,
  async run({ options, terminal }, named = '.') {
    const folder = resolve(terminal.folder, named);
    // The lambda in JavaScript is no module.
    const extension = options.typescript ? 'ts' : readManifest(folder).type === 'module' ? 'cjs' : 'js';
    const files = [...FILES, `lambda/index.${extension}`].sort();
    const existing = files.filter((file) => existsSync(join(folder, file)));
    const conflicts = existing.filter((file) => !KEPT_FILES.includes(file));
    if (conflicts.length > 0)
      throw new UserError(`${folder} has ${conflicts.join(' and ')}, so nothing was written. Name another folder.`);
    for (const file of files.filter((name) => !existing.includes(name))) {
      await makeFolder(dirname(join(folder, file)));
      // npm leaves out files with the name .gitignore when it packs a package.
      const template = file.replace('.gitignore', 'gitignore').replace('.cjs', '.js');
      await copyFile(packageFile(`fixtures/project/${template}`), join(folder, file));
      terminal.print(`wrote ${join(named, file)}`);
    }
    if (existing.includes('package.json')) terminal.print('kept  package.json; to run the test: node --test');
    if (existing.includes('.gitignore')) terminal.print('kept  .gitignore; add .terrarium/ to it');
    const change = named === '.' ? [] : [`cd ${quoted(named)}`];
    // Elsewhere, npx would look for the package on npm, where it is not published yet. Yarn can install it without a folder.
    const installed = [join('node_modules', 'terrarium-emulator'), '.pnp.cjs'];
    const isInstalled = nearestFolderWith(installed, folder) !== undefined;
    // Only a clone has a lock file. Otherwise the folder of the package may be that of the application, or temporary.
    const isClone = existsSync(packageFile('package-lock.json'));
    const source = isClone ? quoted(packageFile('.')) : 'FILE  # the packed Terrarium: terrarium-emulator-....tgz';
    const install = isInstalled ? [] : [`npm install --save-dev ${source}`];
    terminal.print(['\nNext:', ...change, ...install, `${SHELL_COMMAND} dev`].join('\n  '));
  },
});

const quoted = (path: string) => (/\s/.test(path) ? `"${path}"` : path);
