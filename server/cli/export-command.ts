import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { UserError } from '../config.ts';
import { isJsonObject } from '../model/json.ts';
import { saveArchive } from './archive-files.ts';
import { ExitWith, NO } from './exit-with.ts';
import { addPlatformOptions, connect, textOption } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import { printAnswer } from './print-answer.ts';
import type { Terminal } from './terminal.ts';

const NOTES = `
A name that ends with .yaml, .yml or .json is that of a file; any other is that of a folder, which gets a
world.yaml and the code of each lambda in a file of its own. One that ends with .zip is that of an archive of the
whole instance with its history, leads and results, which import takes.`;

/** `terrarium export`: the world as a seed, which `apply` takes. */
export function addExportCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('export')
    .description('write the world as a seed that apply and start --seed take, or all of the instance as a zip')
    .option('-o, --output <FILE|DIR>', 'where to write it; standard output unless given')
    .option('--scope <PATH>', 'only this organization and what is below it, such as /demo')
    .addHelpText('after', NOTES);
  addPlatformOptions(command, 'print the seed, or else the names of the files, as JSON').action(async () => {
    const client = await connect(command, terminal);
    const isJson = command.getOptionValue('json') === true;
    const scope = textOption(command, 'scope');
    const output = textOption(command, 'output');
    if (output === undefined) {
      terminal.printDocument((await exported(client, scope, isJson ? 'json' : 'yaml')).trimEnd());
      return;
    }
    const path = resolve(terminal.folder, output);
    const isArchive = extname(path).toLowerCase() === '.zip';
    if (isArchive && scope !== undefined) throw new UserError('an archive holds the whole instance: leave out --scope');
    const files = isArchive ? [path] : await writeSeed(path, client, scope);
    if (isArchive) await saveArchive(client, path, terminal);
    printAnswer(command, terminal, { files }, () => {
      for (const file of files) terminal.print(`written: ${file}`);
    });
  });
}

function exported(client: PlatformClient, scope: string | undefined, format: 'json' | 'yaml'): Promise<string> {
  const query = scope === undefined ? '' : `?${new URLSearchParams({ scope })}`;
  return client.text('GET', `/inspect/export${query}`, { accept: `application/${format}` });
}

/** Writes files; resolves to their paths. */
async function writeSeed(path: string, client: PlatformClient, scope: string | undefined): Promise<string[]> {
  const files = await filesFor(path, client, scope);
  for (const [file, text] of files) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  return [...files.keys()];
}

/** Texts by absolute path. */
async function filesFor(path: string, client: PlatformClient, scope: string | undefined): Promise<Map<string, string>> {
  const extension = extname(path).toLowerCase();
  const format = extension === '.json' ? 'json' : ['.yaml', '.yml'].includes(extension) ? 'yaml' : undefined;
  if (format) return new Map([[path, await exported(client, scope, format)]]);
  const document: unknown = JSON.parse(await exported(client, scope, 'json'));
  if (!isJsonObject(document)) throw new ExitWith(NO, `${client.baseUrl} gave no seed document`);
  // Loaded only now: no other command needs it.
  const { seedFilesOf } = await import('../emulator/seed-files.ts');
  return new Map([...seedFilesOf(document)].map(([name, text]) => [join(path, name), text]));
}
