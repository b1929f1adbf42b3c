import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { dockerAddress } from '../containers/docker/docker-address.ts';
import type { WorldLeft } from '../containers/docker/leftovers.ts';
import type { Leftovers } from '../containers/engine.ts';
import { describeLeftovers } from '../containers/leftover-sentence.ts';
import { lifeOf, type Owner, sharesFolders } from '../machine/owner.ts';
import type { Uuid } from '../model/ids.ts';

export { describeLeftovers };

/** How long removing one world may take. */
const CLEAR_LIMIT_MS = 60_000;
const WORLD_FILE = 'world.json';
/** Where `terrarium reset` puts worlds that may be wanted again. */
const ASIDE = 'set-aside';

/** What an engine holds of one world, and whether anybody may still want it. */
export interface FoundWorld {
  worldId: Uuid;
  /** `gone`: to be removed. `unknown`: nobody here can tell; to be removed by who names it. */
  state: 'runs' | 'kept' | 'gone' | 'unknown';
  /** Why, in a few words. */
  why: string;
  left: Leftovers;
}

/** What worlds have in one engine. */
export interface EngineCleaning {
  address: string;
  worlds: FoundWorld[];
  /** Removes all that the engine holds of a world; resolves to what could not be removed. */
  remove(worldId: Uuid): Promise<Leftovers>;
  close(): void;
}

/**
 * Looks at what worlds have in a container engine, whether or not a platform runs.
 *
 * @param engine `auto` for what the docker command would use, or an address
 * @throws EngineUnreachable
 */
export async function openCleaning(engine: string, env: NodeJS.ProcessEnv): Promise<EngineCleaning> {
  // What speaks to an engine is loaded by who needs it.
  const [{ DockerConnection }, { clearWorld, findWorlds }] = await Promise.all([
    import('../containers/docker/docker-connection.ts'),
    import('../containers/docker/leftovers.ts'),
  ]);
  const address = dockerAddress(engine === 'auto' ? undefined : engine, { env, homeDir: homedir() });
  const connection = new DockerConnection(address);
  try {
    const found = await findWorlds(connection);
    return {
      address: address.url,
      worlds: await Promise.all(found.map(judged)),
      remove: (worldId) => clearWorld(connection, worldId, { volumes: true, limitMs: CLEAR_LIMIT_MS }),
      close: () => connection.close(),
    };
  } catch (failure) {
    connection.close();
    throw failure;
  }
}

/** One that anything speaks for stays; what nobody here can judge counts for more than what is known to be gone. */
async function judged({ worldId, owners, left }: WorldLeft): Promise<FoundWorld> {
  const verdicts = await Promise.all(owners.map((owner) => verdictOn(worldId, owner)));
  for (const state of ['runs', 'kept', 'unknown'] as const) {
    const decisive = verdicts.find((one) => one.state === state);
    if (decisive) return { worldId, left, ...decisive };
  }
  return { worldId, left, state: 'gone', why: verdicts[0]?.why ?? '' };
}

async function verdictOn(worldId: Uuid, owner: Owner | undefined): Promise<Pick<FoundWorld, 'state' | 'why'>> {
  if (!owner) return { state: 'unknown', why: 'it does not say who made it' };
  if ((await lifeOf(owner)) === 'lives') return { state: 'runs', why: `process ${owner.pid} runs it` };
  if (!sharesFolders(owner)) return { state: 'unknown', why: 'it was made on another machine, or inside a container' };
  const { dataDir, pid } = owner;
  if (dataDir === undefined) return { state: 'gone', why: `it was in memory, and process ${pid} has ended` };
  return (await holdsWorld(dataDir, worldId))
    ? { state: 'kept', why: `it is kept in ${dataDir}` }
    : { state: 'gone', why: `it was kept in ${dataDir}, which does not hold it any more` };
}

/** Is a world kept in a folder, as its own or set aside? What cannot be looked at counts as holding it. */
async function holdsWorld(dataDir: string, worldId: Uuid): Promise<boolean> {
  const isMissing = (failure: unknown) => ['ENOENT', 'ENOTDIR'].includes(Object(failure).code);
  const orMissing = async <T>(work: Promise<T>, missing: T): Promise<T> =>
    work.catch((failure: unknown) => {
      if (isMissing(failure)) return missing;
      throw failure;
    });
  try {
    const aside = join(dataDir, ASIDE);
    const folders = [dataDir, ...(await orMissing(readdir(aside), [])).map((name) => join(aside, name))];
    const worlds = folders.map((folder) => orMissing(readFile(join(folder, WORLD_FILE), 'utf8'), ''));
    return (await Promise.all(worlds)).some((text) => text.includes(worldId));
  } catch {
    return true;
  }
}
