import { setTimeout as pause } from 'node:timers/promises';
import { type Owner, readOwner } from '../../machine/owner.ts';
import type { Uuid } from '../../model/ids.ts';
import type { ClearOptions, Leftovers } from '../engine.ts';
import { inParallel } from '../in-parallel.ts';
import type { DockerConnection } from './docker-connection.ts';
import { LABEL } from './labels.ts';

/** What is asked of the daemon at a time: most of it is waiting for instances to end, and more than that only makes a busy one slower. */
const AT_ONCE = 16;
/** How long an instance may take to end when it is asked to; in the second half of the time there is none. */
const GRACE_S = 3;
/** What could not be removed is tried again: networks and volumes are in use until the last instance has gone. */
const AGAIN_MS = 200;
const SWEEP_LIMIT_MS = 60_000;

/** What an engine holds of one world. */
export interface WorldLeft {
  worldId: Uuid;
  /** Who made it; undefined for what does not tell. */
  owners: (Owner | undefined)[];
  left: Leftovers;
}

type Kind = keyof Leftovers | 'configs';

interface Item {
  kind: Kind;
  id: string;
  name: string;
  labels: Readonly<Record<string, string>>;
}

/** What an engine holds of worlds, whosever they are; what lacks our label is never seen. */
export async function findWorlds(connection: DockerConnection): Promise<WorldLeft[]> {
  const byWorld = new Map<Uuid, Item[]>();
  for (const one of await itemsOf(connection, LABEL.world)) {
    const worldId = one.labels[LABEL.world] ?? '';
    byWorld.set(worldId, [...(byWorld.get(worldId) ?? []), one]);
  }
  return [...byWorld].map(([worldId, items]) => ({
    worldId,
    owners: [...new Set(items.map(({ labels }) => labels[LABEL.owner]))].map(readOwner),
    left: namesOf(items),
  }));
}

/** What runs takes its time to end; what it used goes at once, when the time is over, too. */
const PASSES: readonly (readonly [kinds: readonly Kind[], isSlow: boolean])[] = [
  [['services', 'containers'], true],
  [['networks', 'volumes', 'configs'], false],
];

/** Removes all that an engine holds of a world; resolves to what is left when the time is over. */
export async function clearWorld(
  connection: DockerConnection,
  worldId: Uuid,
  { volumes, limitMs }: ClearOptions,
): Promise<Leftovers> {
  const startedMs = performance.now();
  for (;;) {
    const found = await itemsOf(connection, `${LABEL.world}=${worldId}`);
    const items = found.filter(({ kind }) => volumes || kind !== 'volumes');
    const passedMs = performance.now() - startedMs;
    if (items.length === 0 || passedMs > limitMs) return namesOf(items);
    const isOver = () => performance.now() - startedMs > limitMs;
    const graceS = passedMs < limitMs / 2 ? GRACE_S : 0;
    for (const [kinds, isSlow] of PASSES) {
      const doomed = items.filter(({ kind }) => kinds.includes(kind));
      await inParallel(AT_ONCE, doomed, async (item) => {
        if (!(isSlow && isOver())) await removeItem(connection, item, graceS);
      });
    }
    await pause(AGAIN_MS);
  }
}

/** Removes worlds that were in memory only and whose owner is gone. */
export async function sweepWorlds(
  connection: DockerConnection,
  isGone: (owners: readonly Owner[]) => Promise<boolean>,
): Promise<void> {
  for (const { worldId, owners } of await findWorlds(connection)) {
    const known = owners.filter((one) => one !== undefined);
    if (known.length < owners.length || !(await isGone(known))) continue;
    await clearWorld(connection, worldId, { volumes: true, limitMs: SWEEP_LIMIT_MS });
  }
}

async function itemsOf(connection: DockerConnection, label: string): Promise<Item[]> {
  const filters = { label: [label] };
  const item = (kind: Kind, id: string, name: string, labels: Item['labels'] | null | undefined): Item => ({
    kind,
    id,
    name,
    labels: labels ?? {},
  });
  return connection.ask(async (docker) => {
    const orNone = <T>(list: Promise<T[]>) => list.catch(noSwarm<T>);
    const [containers, networks, { Volumes: volumes }, services, configs] = await Promise.all([
      docker.listContainers({ all: true, filters }),
      docker.listNetworks({ filters }),
      docker.listVolumes({ filters }),
      orNone(docker.listServices({ filters })),
      orNone(docker.listConfigs({ filters })),
    ]);
    return [
      ...containers.map((one) => item('containers', one.Id, (one.Names[0] ?? one.Id).replace('/', ''), one.Labels)),
      ...services.map((one) => item('services', one.ID, one.Spec?.Name ?? one.ID, one.Spec?.Labels)),
      ...networks.map((one) => item('networks', one.Id, one.Name, one.Labels)),
      ...(volumes ?? []).map((one) => item('volumes', one.Name, one.Name, one.Labels)),
      ...configs.map((one) => item('configs', one.ID, one.Spec?.Name ?? one.ID, one.Spec?.Labels)),
    ];
  });
}

/** A daemon that manages no swarm has none of its things, and says so by refusing. */
function noSwarm<T>(failure: unknown): T[] {
  if (Object(failure).statusCode !== undefined) return [];
  throw failure;
}

/** What is gone, in use or going already is looked at again by who asked. */
async function removeItem(connection: DockerConnection, { kind, id }: Item, graceS: number): Promise<void> {
  const quietly = (work: () => Promise<unknown>) => connection.askTolerantly(work);
  const { docker } = connection;
  if (kind === 'containers') {
    const container = docker.getContainer(id);
    if (graceS > 0) await quietly(() => container.stop({ t: graceS }));
    await quietly(() => container.remove({ force: true, v: true }));
  } else if (kind === 'services') await quietly(() => docker.getService(id).remove());
  else if (kind === 'networks') await quietly(() => docker.getNetwork(id).remove());
  else if (kind === 'volumes') await quietly(() => docker.getVolume(id).remove());
  else await quietly(() => docker.getConfig(id).remove());
}

function namesOf(items: readonly Item[]): Leftovers {
  const names = (kind: Kind) => items.filter((one) => one.kind === kind).map(({ name }) => name);
  return {
    containers: names('containers'),
    // A service's configs are of no use without it.
    services: [...names('services'), ...names('configs')],
    networks: names('networks'),
    volumes: names('volumes'),
  };
}
