import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { Uuid } from '../../../model/record.ts';
import { SHELL_COMMAND, shellWord } from '../../../model/shell-command.ts';
import { type Owner, readOwner, sharesFolders, wasInMemory } from '../../../system/owner.ts';
import { Turns } from '../../../system/turns.ts';
import { type ClearOptions, EngineUnreachable, type Leftovers } from '../engine.ts';
import type { DockerConnection } from './docker-connection.ts';
import { LABEL, type WorldMark } from './labels.ts';
import { removeNetwork } from './networks.ts';

/** Concurrent requests to the daemon: most time is spent waiting for instances to end; more would slow down a busy daemon. */
const AT_ONCE = 16;
/** Time for an instance to end after a stop request; none in the second half of the total time. */
const GRACE_S = 3;
/** The interval between attempts to remove the rest: networks and volumes are in use until the last instance has gone. */
const AGAIN_MS = 200;
/** A network that was empty for so long and is not removed is locked. An endpoint is removed a moment after its container. */
const LOCKED_AFTER_MS = 3_000;

export interface WorldLeft {
  worldId: Uuid;
  owners: (Owner | undefined)[];
  leftovers: Leftovers;
}

type Kind = Exclude<keyof Leftovers, 'lockedNetworks'> | 'configs';

interface Item {
  kind: Kind;
  id: string;
  name: string;
  labels: Readonly<Record<string, string>>;
}

/** The creators of resources, each once. */
const ownersIn = (items: readonly Item[]) =>
  [...new Set(items.map(({ labels }) => labels[LABEL.owner]))].map(readOwner);

/** Throws EngineUnreachable if another folder with this world made something in the engine (see `refuseCopy`). */
export async function requireSoleFolder(connection: DockerConnection, world: WorldMark): Promise<void> {
  if (world.owner?.dataDir === undefined) return;
  const items = await itemsOf(connection, `${LABEL.world}=${world.worldId}`, 'volumes if possible');
  await refuseCopy(items, world, connection.address.url);
}

/** Throws EngineUnreachable if another folder with this world has created one of the resources: each platform would remove what the other creates. */
async function refuseCopy(items: readonly Item[], { worldId, owner }: WorldMark, engineUrl: string): Promise<void> {
  if (owner?.dataDir === undefined) return;
  for (const other of ownersIn(items)) {
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

/** The resources of all worlds in an engine; resources without our label are ignored. */
export async function findWorlds(connection: DockerConnection): Promise<WorldLeft[]> {
  const byWorld = new Map<Uuid, Item[]>();
  for (const item of await itemsOf(connection, LABEL.world)) {
    const worldId = item.labels[LABEL.world] ?? '';
    byWorld.set(worldId, [...(byWorld.get(worldId) ?? []), item]);
  }
  return [...byWorld].map(([worldId, items]) => ({
    worldId,
    owners: ownersIn(items),
    leftovers: namesOf(items),
  }));
}

/** Running instances take time to end; their resources are removed afterwards, at once, even after the time limit. */
const isSlow = ({ kind }: Item): boolean => kind === 'services' || kind === 'containers';

/** Throws EngineUnreachable if the world has an owner, and another folder made something of it. */
export async function clearWorld(
  connection: DockerConnection,
  world: WorldMark,
  { volumes, limitMs, whileItShrinks = false, lockedAfterMs = LOCKED_AFTER_MS }: ClearOptions,
): Promise<Leftovers> {
  const startedMs = performance.now();
  const lockedSinceMs = new Map<string, number>();
  const turns = new Turns(AT_ONCE);
  const inTurns = (items: readonly Item[], work: (item: Item) => Promise<void>) =>
    Promise.all(items.map((item) => turns.run(() => work(item))));
  for (let count = Number.POSITIVE_INFINITY; ; ) {
    const found = await itemsOf(connection, `${LABEL.world}=${world.worldId}`);
    await refuseCopy(found, world, connection.address.url);
    const passedMs = performance.now() - startedMs;
    const isLocked = ({ id }: Item) => passedMs - (lockedSinceMs.get(id) ?? passedMs) > lockedAfterMs;
    const items = found.filter((item) => (volumes || item.kind !== 'volumes') && !isLocked(item));
    const isStuck = whileItShrinks && items.length >= count;
    if (items.length === 0 || passedMs > limitMs || isStuck) {
      const lockedNetworks = found.filter(isLocked).map(({ name }) => name);
      return { ...namesOf(items), ...(lockedNetworks.length > 0 && { lockedNetworks }) };
    }
    count = items.length;
    const isOver = () => performance.now() - startedMs > limitMs;
    const graceS = passedMs < limitMs / 2 ? GRACE_S : 0;
    await inTurns(items.filter(isSlow), async (item) => {
      if (!isOver()) await removeItem(connection, item, graceS);
    });
    const fastItems = items.filter((item) => !isSlow(item));
    await inTurns(fastItems, async (item) => {
      if (item.kind !== 'networks') await removeItem(connection, item, graceS);
      else if ((await removeNetwork(connection, item.id)) !== 'locked') lockedSinceMs.delete(item.id);
      else if (!lockedSinceMs.has(item.id)) lockedSinceMs.set(item.id, passedMs);
    });
    await pause(AGAIN_MS);
  }
}

/** Removes the resources of worlds in memory, and of pipeline runs, whose processes have certainly ended. `limitMs` is the time for all of them. */
export async function sweepWorlds(connection: DockerConnection, limitMs: number): Promise<void> {
  const untilMs = performance.now() + limitMs;
  for (const { worldId, owners } of await findWorlds(connection)) {
    const knownOwners = owners.filter((owner) => owner !== undefined);
    if (knownOwners.length < owners.length || !(await wasInMemory(knownOwners))) continue;
    const limitMs = untilMs - performance.now();
    await clearWorld(connection, { worldId }, { volumes: true, limitMs, whileItShrinks: true });
  }
}

async function itemsOf(connection: DockerConnection, label: string, scope?: 'volumes if possible'): Promise<Item[]> {
  const filters = { label: [label] };
  const item = (kind: Kind, id: string, name: string, labels?: Item['labels'] | null): Item => {
    return { kind, id, name, labels: labels ?? {} };
  };
  return connection.ask(async (docker) => {
    const orEmpty = <T>(list: Promise<T[]>) => list.catch(noSwarm<T>);
    const [containers, networks, { Volumes: volumes }, services, configs] = await Promise.all([
      docker.listContainers({ all: true, filters }),
      docker.listNetworks({ filters }),
      docker.listVolumes({ filters }).catch((failure: unknown) => {
        // A filter before an engine may forbid this request, and a volume plugin can hang.
        if (scope === undefined) throw failure;
        return { Volumes: [] };
      }),
      orEmpty(docker.listServices({ filters })),
      orEmpty(docker.listConfigs({ filters })),
    ]);
    return [
      ...containers.map((container) =>
        item('containers', container.Id, (container.Names[0] ?? container.Id).replace('/', ''), container.Labels),
      ),
      ...services.map((service) =>
        item('services', service.ID, service.Spec?.Name ?? service.ID, service.Spec?.Labels),
      ),
      ...networks.map((network) => item('networks', network.Id, network.Name, network.Labels)),
      ...(volumes ?? []).map((volume) => item('volumes', volume.Name, volume.Name, volume.Labels)),
      ...configs.map((config) => item('configs', config.ID, config.Spec?.Name ?? config.ID, config.Spec?.Labels)),
    ];
  });
}

/** A daemon that does not manage a swarm rejects requests for swarm resources. */
function noSwarm<T>(failure: unknown): T[] {
  if (Object(failure).statusCode !== undefined) return [];
  throw failure;
}

const HANDLES: Record<Kind, (docker: Docker, id: string) => { remove(options?: object): Promise<unknown> }> = {
  containers: (docker, id) => docker.getContainer(id),
  services: (docker, id) => docker.getService(id),
  networks: (docker, id) => docker.getNetwork(id),
  volumes: (docker, id) => docker.getVolume(id),
  configs: (docker, id) => docker.getConfig(id),
};

/** The caller checks again what is missing, in use or being removed. */
async function removeItem(connection: DockerConnection, { kind, id }: Item, graceS: number): Promise<void> {
  const isContainer = kind === 'containers';
  if (isContainer && graceS > 0)
    await connection.askTolerantly((docker) => docker.getContainer(id).stop({ t: graceS }));
  await connection.askTolerantly((docker) =>
    HANDLES[kind](docker, id).remove(isContainer ? { force: true, v: true } : undefined),
  );
}

function namesOf(items: readonly Item[]): Leftovers {
  const names = (kind: Kind) => items.filter((item) => item.kind === kind).map(({ name }) => name);
  return {
    containers: names('containers'),
    // A service's configs are of no use without it.
    services: [...names('services'), ...names('configs')],
    networks: names('networks'),
    volumes: names('volumes'),
  };
}
