import { stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { addPlatformOptions, connect, textOption } from './instance-options.ts';
import type { Terminal } from './terminal.ts';

/** Name of the seed in a folder that is given for it. */
const SEED_NAME = 'world';

/** `terrarium export`: the world as a seed file, which `apply` takes. */
export function addExportCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('export')
    .description('write the world, or one organization, as a seed file that apply and start --seed take')
    .option('-o, --output <FILE|DIR>', 'where to write it; standard output unless given')
    .option('--scope <PATH>', 'only this organization and what is below it, such as /demo');
  addPlatformOptions(command, 'write JSON instead of YAML').action(async () => {
    const client = await connect(command, terminal);
    const isJson = command.getOptionValue('json') === true;
    const scope = textOption(command, 'scope');
    const query = scope === undefined ? '' : `?${new URLSearchParams({ scope })}`;
    const accept = isJson ? 'application/json' : 'application/yaml';
    const { text } = await client.call('GET', `/inspect/export${query}`, { accept });
    const output = textOption(command, 'output');
    if (output === undefined) return terminal.print(text.trimEnd());
    const file = await fileFor(resolve(terminal.folder, output), isJson ? 'json' : 'yaml');
    await writeFile(file, text);
    terminal.complain(`terrarium: written to ${file}`);
  });
}

async function fileFor(path: string, extension: string): Promise<string> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder ? join(path, `${SEED_NAME}.${extension}`) : path;
}
