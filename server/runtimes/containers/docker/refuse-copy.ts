import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SHELL_COMMAND, shellWord } from '../../../model/shell-command.ts';
import { type Owner, sharesFolders } from '../../../system/owner.ts';
import { EngineUnreachable } from '../engine.ts';
import type { WorldMark } from './labels.ts';

/**
 * Throws EngineUnreachable if another folder with the same world is among the creators of its resources in an engine: one of the two
 * folders is a copy of the other, and each platform would use and remove what the other one creates, also after it has ended.
 */
export async function refuseCopy(
  creators: readonly (Owner | undefined)[],
  { worldId, owner }: WorldMark,
  engineUrl: string,
): Promise<void> {
  if (owner?.dataDir === undefined) return;
  for (const other of creators) {
    if (!(await isElsewhere(other, worldId, owner.dataDir))) continue;
    const command = `${SHELL_COMMAND} reset --new-id --data ${shellWord(owner.dataDir)}`;
    throw new EngineUnreachable(
      `the containers and volumes of this world in the container engine at ${engineUrl} belong to the folder ${other?.dataDir}, and ${owner.dataDir} is a copy of it or its original. If you no longer need that folder, stop its platform and delete it; to use both, stop this platform and run \`${command}\`.`,
    );
  }
}

/** Is the world of an owner still in a folder of this machine, and not only in ours? */
async function isElsewhere(owner: Owner | undefined, worldId: string, dataDir: string): Promise<boolean> {
  if (owner?.dataDir === undefined || owner.dataDir === dataDir || !sharesFolders(owner)) return false;
  const world = await readFile(join(owner.dataDir, 'world.json'), 'utf8').catch(() => '');
  return world.includes(worldId) && (await identityOf(owner.dataDir)) !== (await identityOf(dataDir));
}

/** Returns the same text for each path that leads to a folder. */
async function identityOf(folder: string): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true });
  return `${dev} ${ino}`;
}
