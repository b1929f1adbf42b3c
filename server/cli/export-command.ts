import { createReadStream, createWriteStream } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type ImportView, snapshotRoutes } from '../api/routes/history.ts';
import { reasonOf } from '../model/errors.ts';
import { isJsonObject, jsonIn } from '../model/json.ts';
import { UserError } from '../platform/config.ts';
import { removeIfPossible, renameFile } from '../system/files-in-use.ts';
import { makeFolder } from '../system/make-folder.ts';
import { draftOf } from '../system/write-whole.ts';
import { runLines } from './change-lines.ts';
import { defineCommand, json, text } from './command.ts';
import { ExitWith, NO } from './describe-failure.ts';
import { commandOn, platformOptions } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';

const NOTES = `
A path that ends with .yaml, .yml or .json is written as one seed file. A path that ends with .zip is written as an
archive of the instance with its history, leads, mails and results, for import; snapshots and passwords are not in it. Any other path is a folder: it gets
a world.yaml and one file for the code of each lambda. With --scope, a seed also contains the providers and
accounts outside to which the organization refers; of accounts only the names. \`apply\` also changes these providers if they differ: remove
them from the file to keep those of the platform.`;

export const exportCommand = defineCommand({
  name: 'export',
  description: 'write the world as a seed for apply and start --seed, or the whole instance as a ZIP archive',
  options: {
    output: text('-o, --output <FILE|DIR>', 'file or folder to write (default: standard output)'),
    scope: text('--scope <PATH>', 'export only this organization and everything below it, such as /demo'),
    ...platformOptions,
    json: json('print the seed as JSON, or with --output the paths of the written files'),
  },
  notes: NOTES,
  async run({ options: { output, scope, json: isJson }, terminal, connect, print }) {
    const client = await connect();
    if (output === undefined) {
      terminal.printDocument((await exported(client, scope, isJson ? 'json' : 'yaml')).trimEnd());
      return;
    }
    const path = resolve(terminal.folder, output);
    const isArchive = extname(path).toLowerCase() === '.zip';
    if (isArchive && scope !== undefined)
      throw new UserError('an archive contains the whole instance. Omit --scope, or export a seed file.');
    const files = isArchive ? [path] : await writeSeed(path, client, scope);
    if (isArchive) await saveArchive(client, path);
    print(
      { files },
      files.map((file) => `written: ${file}`),
    );
  },
});

export const importCommand = commandOn(
  ['<file.zip>', 'archive that `export -o FILE.zip` has written'],
  'import',
  'replace the instance with an archive; its API keys and passwords stay',
  async (client, file, { terminal }) => {
    const imported = await sendArchive(client, resolve(terminal.folder, file));
    return { answer: imported, lines: importLines(imported) };
  },
);

function* importLines({ commit, leads, hidden, runs }: ImportView): Generator<string> {
  yield commit ? `imported as commit ${commit.seq}` : 'No changes: the world is already in this state.';
  yield `${leads} new leads`;
  yield* runLines(runs);
  for (const { type, path } of hidden) yield `not included in the archive; set it again: ${type} ${path}`;
}

function exported(client: PlatformClient, scope: string | undefined, format: 'json' | 'yaml'): Promise<string> {
  const query = scope === undefined ? '' : `?${new URLSearchParams({ scope })}`;
  return client.text('GET', `/inspect/export${query}`, { accept: `application/${format}` });
}

/** Returns the written files. */
async function writeSeed(path: string, client: PlatformClient, scope: string | undefined): Promise<string[]> {
  const extension = extname(path).toLowerCase();
  const format = extension === '.json' ? 'json' : ['.yaml', '.yml'].includes(extension) ? 'yaml' : undefined;
  const text = await exported(client, scope, format ?? 'json');
  const files = format ? new Map([['', text]]) : await filesOf(text, client);
  const written: string[] = [];
  for (const [name, content] of files) {
    const file = join(path, name);
    await makeFolder(dirname(file));
    await writeFile(file, content);
    written.push(file);
  }
  return written;
}

async function filesOf(seed: string, client: PlatformClient): Promise<Map<string, string>> {
  const document = jsonIn(seed);
  if (!isJsonObject(document)) throw new ExitWith(NO, `${client.baseUrl} did not return a seed document`);
  // Loaded only now: no other command needs it.
  const { seedFolder } = await import('../platform/seed-files.ts');
  return seedFolder(document);
}

const PATH = '/inspect/archive';
const ZIP_TYPE = 'application/zip';
const TRANSFER_TIMEOUT_MS = 3_600_000;

/** Saves the whole instance in a file, which appears only when it is complete. */
async function saveArchive(client: PlatformClient, file: string): Promise<void> {
  const archive = await client.stream('GET', PATH, { accept: ZIP_TYPE, timeoutMs: TRANSFER_TIMEOUT_MS });
  const draft = draftOf(file);
  try {
    await pipeline(archive, createWriteStream(draft, { mode: 0o600, flags: 'wx' }));
    await renameFile(draft, file);
  } catch (failure) {
    // Errors of the file system name the file.
    if (failure instanceof Error && 'path' in failure) throw failure;
    throw new ExitWith(NO, `${client.baseUrl}${PATH}: ${reasonOf(failure)}`);
  } finally {
    await removeIfPossible(draft);
  }
}

/** Replaces the instance with the contents of an archive. Throws UserError, or the error of the file system, when it cannot be read. */
async function sendArchive(client: PlatformClient, file: string): Promise<ImportView> {
  if (!(await stat(file)).isFile())
    throw new UserError(`${file} is not a file: give the path of a ZIP archive that export has written`);
  const body = { type: ZIP_TYPE, content: createReadStream(file) };
  const imported = await client.ask(snapshotRoutes.importArchive, { body, timeoutMs: TRANSFER_TIMEOUT_MS });
  return { ...imported, runs: imported.runs ?? [] };
}
