import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Owner, sharesFolders } from '../../../system/owner.ts';
import { EngineUnreachable } from '../engine.ts';
import type { DockerConnection } from './docker-connection.ts';
import { ownedBy, type WorldMark } from './labels.ts';
import { ownersIn } from './leftovers.ts';

/**
 * Throws EngineUnreachable if another folder with this world made something in the engine: one of the two folders is a copy of the other,
 * and each platform would use and remove what the other one creates, also after it has ended.
 */
export async function refuseCopy(connection: DockerConnection, { worldId, owner }: WorldMark): Promise<void> {
  if (owner?.dataDir === undefined) return;
  const filters = ownedBy(worldId);
  const containers = await connection.ask((docker) => docker.listContainers({ all: true, filters }));
  // A filter before an engine may forbid this request, and a volume plugin can hang.
  const volumes = await connection.ask((docker) => docker.listVolumes({ filters })).catch(() => undefined);
  const owners = ownersIn([...containers, ...(volumes?.Volumes ?? [])].map(({ Labels: labels }) => ({ labels })));
  for (const other of owners) {
    if (!(await isElsewhere(other, worldId, owner.dataDir))) continue;
    throw new EngineUnreachable(
      `the containers and volumes of this world in the container engine at ${connection.address.url} belong to the folder ${other?.dataDir}, and ${owner.dataDir} is a copy of it or its original. If you no longer need that folder, stop its platform and delete it; otherwise start this one with --containers-engine none.`,
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
