import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Owner, sharesFolders } from '../../../system/owner.ts';
import { isRunning, lockHolder } from '../../../system/processes.ts';
import { EngineUnreachable } from '../engine.ts';
import type { DockerConnection } from './docker-connection.ts';
import { ownedBy, type WorldMark } from './labels.ts';
import { ownersIn } from './leftovers.ts';

/**
 * Throws EngineUnreachable if a platform runs in another folder that has containers of this world: one of the two folders is a copy of the
 * other, and each platform would remove what the other one creates.
 */
export async function refuseCopy(connection: DockerConnection, { worldId, owner }: WorldMark): Promise<void> {
  if (owner?.dataDir === undefined) return;
  // Only what every engine may be asked for, also behind a filter.
  const listed = await connection.ask((docker) => docker.listContainers({ all: true, filters: ownedBy(worldId) }));
  for (const other of ownersIn(listed.map(({ Labels: labels }) => ({ labels })))) {
    const pid = await runningIn(other, worldId);
    if (pid === undefined || pid === owner.pid) continue;
    throw new EngineUnreachable(
      `the platform of the folder ${other?.dataDir} (process ${pid}) runs the containers of this world in the container engine at ${connection.address.url}, and ${owner.dataDir} is a copy of that folder or its original. Stop one of the two platforms, or start this one with --containers-engine none.`,
    );
  }
}

/** The process of the platform that runs a world in the folder of an owner. */
async function runningIn(owner: Owner | undefined, worldId: string): Promise<number | undefined> {
  if (owner?.dataDir === undefined || !sharesFolders(owner)) return undefined;
  const world = await readFile(join(owner.dataDir, 'world.json'), 'utf8').catch(() => '');
  const holder = world.includes(worldId) ? await lockHolder(join(owner.dataDir, 'lock')) : undefined;
  return holder && (await isRunning(holder)) ? holder.pid : undefined;
}
