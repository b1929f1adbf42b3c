import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SHELL_COMMAND } from '../model/shell-command.ts';
import { UserError } from '../platform/config.ts';
import { IN_MEMORY, SET_ASIDE } from '../platform/config-schema.ts';
import { renameFile } from '../system/files-in-use.ts';
import { isRunning, lockHolder } from '../system/processes.ts';
import { defineCommand, flag, json } from './command.ts';
import { folderOptions } from './config-options.ts';
import { requireReadableLock } from './instance-file.ts';
import { localConfig } from './instance-options.ts';

/** Not part of a world: other instances, earlier worlds, and the owner's credentials. */
const PRESERVED_FILES = [SET_ASIDE, 'instances', 'root-api-key.json', 'passwords.json', 'crm-certificate.pem'];

export const resetCommand = defineCommand({
  name: 'reset',
  description: 'move the world of a stopped platform away, so that its next start begins with the seed',
  options: {
    ...folderOptions,
    newId: flag(
      '--new-id',
      'keep the world and give it a new ID instead, so that a copy of a data folder can use the same container engine',
    ),
    json: json(),
  },
  notes: `
Root's API key and random passwords stay. With a new ID, the next start creates all containers again, with empty volumes; what the
engine has under the old ID is not changed.

Exit codes: 0 success; 2 the platform is still running, or the world cannot be moved or changed.`,
  async run({ options, terminal, print }) {
    const { data } = localConfig(options, terminal);
    if (data === IN_MEMORY)
      throw new UserError('a world in memory begins with the seed at each start: there is nothing to reset');
    if (options.newId) {
      // Most commands need nothing of the store.
      const { renewWorldId } = await import('../platform/renew-world-id.ts');
      const worldId = await renewWorldId(data);
      print({ dataDir: data, worldId }, [`the world in ${data} has the new ID ${worldId}`]);
      return;
    }
    const setAside = await setWorldAside(data);
    const outcome = setAside === undefined ? `${data} contains no world` : `set aside in ${setAside}`;
    print({ dataDir: data, setAside: setAside ?? null }, [`${outcome}: the next start begins with the seed`]);
  },
});

/** Moves the world of a stopped platform away. Returns its new folder, or undefined if there was none. Throws UserError if it is running. */
export async function setWorldAside(data: string): Promise<string | undefined> {
  const holder = await lockHolder(await requireReadableLock(data));
  if (holder && (await isRunning(holder))) {
    throw new UserError(
      `${data} is in use by process ${holder.pid}. Stop it with Ctrl+C or \`${SHELL_COMMAND} stop\`, or end the test that has called startEmulator(), then run the command again.`,
    );
  }
  const names = (await readdir(data).catch(() => [])).filter((name) => !PRESERVED_FILES.includes(name));
  if (names.length === 0) return undefined;
  const setAside = join(data, SET_ASIDE, new Date().toISOString().replaceAll(':', '-'));
  await mkdir(setAside, { recursive: true, mode: 0o700 });
  for (const name of names) await renameFile(join(data, name), join(setAside, name));
  return setAside;
}
