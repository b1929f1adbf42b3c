import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Uuid } from '../model/record.ts';
import { dockerAddress } from '../runtimes/containers/docker/docker-address.ts';
import type { WorldLeft } from '../runtimes/containers/docker/leftovers.ts';
import { EngineRefusal, type Leftovers } from '../runtimes/containers/engine.ts';
import { describeLeftovers } from '../runtimes/containers/leftover-sentence.ts';
import { homeFolder } from '../system/nearest-folder.ts';
import { lifeOf, type Owner, sharesFolders } from '../system/owner.ts';
import { UserError } from './config.ts';
import { SET_ASIDE } from './config-schema.ts';

export { describeLeftovers };

/** Time limit for removing one world. */
const CLEAR_LIMIT_MS = 60_000;
const WORLD_FILE = 'world.json';

/** Resources of one world in an engine, and whether the world may still be used. */
interface FoundWorld {
  worldId: Uuid;
  /** `gone`: can be removed. `unknown`: cannot be checked here; removed only if named. */
  state: 'runs' | 'kept' | 'gone' | 'unknown';
  /** The reason for the state, in a few words. */
  why: string;
  left: Leftovers;
}

/** @param engine `auto` for what the docker command would use, or an address */
async function openEngine(engine: string, env: NodeJS.ProcessEnv) {
  // What speaks to an engine is loaded by who needs it.
  const { DockerConnection } = await import('../runtimes/containers/docker/docker-connection.ts');
  const address = dockerAddress(engine === 'auto' ? undefined : engine, { env, homeDir: homeFolder() });
  return new DockerConnection(address, { addressSetting: 'containers.engine' });
}

/** Asks a container engine what it is. Throws EngineUnreachable, or UserError if the engine refuses. */
export async function identifyEngine(engine: string, env: NodeJS.ProcessEnv) {
  const connection = await openEngine(engine, env);
  try {
    const { isPodman, version } = await connection.identify();
    return { address: connection.address.url, name: isPodman ? 'Podman' : 'Docker', version };
  } catch (cause) {
    if (!(cause instanceof EngineRefusal)) throw cause;
    throw new UserError(`${connection.address.url} refuses: ${cause.message}`, { cause });
  } finally {
    connection.close();
  }
}

/** Looks at what worlds have in a container engine, whether or not a platform runs. Throws EngineUnreachable. */
export async function openCleaning(engine: string, env: NodeJS.ProcessEnv) {
  const { clearWorld, findWorlds } = await import('../runtimes/containers/docker/leftovers.ts');
  const connection = await openEngine(engine, env);
  try {
    const found = await findWorlds(connection);
    return {
      address: connection.address.url,
      worlds: await Promise.all(found.map(judged)),
      /** Removes all resources of a world from the engine; resolves to the ones that could not be removed. */
      remove: (worldId: Uuid) => clearWorld(connection, { worldId }, { volumes: true, limitMs: CLEAR_LIMIT_MS }),
      close: () => connection.close(),
    };
  } catch (failure) {
    connection.close();
    throw failure;
  }
}

/** A world with any sign of use stays. Signs that cannot be checked here outweigh signs that it is gone. */
async function judged({ worldId, owners, leftovers }: WorldLeft): Promise<FoundWorld> {
  const verdicts = await Promise.all(owners.map((owner) => verdictOn(worldId, owner)));
  for (const state of ['runs', 'kept', 'unknown'] as const) {
    const decisive = verdicts.find((verdict) => verdict.state === state);
    if (decisive) return { worldId, left: leftovers, ...decisive };
  }
  return { worldId, left: leftovers, state: 'gone', why: verdicts[0]?.why ?? '' };
}

async function verdictOn(worldId: Uuid, owner: Owner | undefined): Promise<Pick<FoundWorld, 'state' | 'why'>> {
  if (!owner) return { state: 'unknown', why: 'its creator is unknown' };
  const life = await lifeOf(owner);
  if (life === 'lives') return { state: 'runs', why: `process ${owner.pid} runs it` };
  if (!sharesFolders(owner))
    return { state: 'unknown', why: 'it was created on another machine, or inside a container' };
  const { dataDir, pid } = owner;
  if (dataDir !== undefined && (await holdsWorld(dataDir, worldId))) {
    return { state: 'kept', why: `it is kept in ${dataDir}` };
  }
  if (life === 'unknown')
    return { state: 'unknown', why: `process ${pid} may run it: its start time cannot be compared` };
  return dataDir === undefined
    ? { state: 'gone', why: `it was in memory, and process ${pid} has ended` }
    : { state: 'gone', why: `it was kept in ${dataDir}, which no longer contains it` };
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
    const aside = join(dataDir, SET_ASIDE);
    const folders = [dataDir, ...(await orMissing(readdir(aside), [])).map((name) => join(aside, name))];
    const worlds = folders.map((folder) => orMissing(readFile(join(folder, WORLD_FILE), 'utf8'), ''));
    return (await Promise.all(worlds)).some((text) => text.includes(worldId));
  } catch {
    return true;
  }
}
