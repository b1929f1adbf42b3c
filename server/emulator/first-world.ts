import { randomUUID } from 'node:crypto';
import type { Config } from '../config-schema.ts';
import type { FreshWorld } from '../history/reset-routes.ts';
import { PlatformError } from '../model/errors.ts';
import { ORGANIZATION } from '../model/hierarchy.ts';
import type { StoredResource, World } from '../model/record.ts';
import { USER } from '../model/type-names.ts';
import { packageFile } from '../package-file.ts';
import { rootAct } from '../resources/act.ts';
import { type CoreOptions, createCore } from '../resources/core.ts';
import { hashPassword } from '../security/passwords.ts';
import { publishedHash } from '../security/published-hashes.ts';
import { applySeed } from '../seed/apply-seed.ts';
import { readGivenSeed, readPreparedSeed, readSeed } from '../seed/read-seed.ts';
import { SeedError } from '../seed/seed-error.ts';
import type { Seed } from '../seed/seed-node.ts';
import { seedTarget } from '../seed/seed-target.ts';
import { TrialWorld } from '../seed/trial-world.ts';
import { type ScmAccess, withScmAt } from '../standins/scm/scm-place.ts';
import { coreConfigOf } from './listeners.ts';

export interface FirstWorldOptions extends Pick<CoreOptions, 'addresses' | 'nowMs' | 'onWarning'> {
  /** Content of a seed file, in place of the one that the configuration names. */
  seed?: object | undefined;
}

/**
 * Makes the world of a first start: root organization and user (D-175), then what the seed says. It is made in memory and
 * handed over whole, so that a seed that fails half-way leaves nothing behind.
 *
 * @throws SeedError naming the line of the seed file that cannot be applied
 */
export async function makeFirstWorld(config: Config, { seed: given, ...options }: FirstWorldOptions): Promise<World> {
  const seed = await (given ? readGivenSeed(given) : seedNamed(config.seed));
  const bare = await bareWorld(config.rootPassword, options.nowMs());
  const store = new TrialWorld(new Map(Object.entries(bare.resources)));
  const core = createCore({ ...options, store, config: coreConfigOf(config), hashPassword: hashOf });
  await applySeed(seed, seedTarget(core, rootAct(store.view.root, 'seed')));
  const made = store.difference().put.map((record) => [record.id, record]);
  return { ...bare, resources: { ...bare.resources, ...Object.fromEntries(made) } };
}

/** Makes worlds as a first start would, for those who begin anew. @param scm how the source-control stand-in is reached now */
export function freshWorlds(config: Config, options: FirstWorldOptions, scm: () => ScmAccess): FreshWorld {
  return async (seed) => {
    try {
      const world = await (seed === 'configured'
        ? makeFirstWorld(config, options)
        : makeFirstWorld({ ...config, seed }, { ...options, seed: undefined }));
      const records = Object.values(world.resources).map((record) => withScmAt(record, scm()));
      return new Map(records.map((record) => [record.id, record]));
    } catch (cause) {
      if (!(cause instanceof SeedError)) throw cause;
      throw new PlatformError(409, `the seed cannot be used: ${cause.message}`, { cause });
    }
  };
}

function seedNamed(seed: string): Promise<Seed> {
  return seed === 'demo' || seed === 'empty'
    ? readPreparedSeed(packageFile(`fixtures/worlds/${seed}.yaml`), packageFile('dist/server/worlds.json'))
    : readSeed(seed);
}

async function bareWorld(rootPassword: string, nowMs: number): Promise<World> {
  const at = new Date(nowMs).toISOString();
  const [rootId, userId] = [randomUUID(), randomUUID()];
  const common = {
    state: 'Active',
    owner: userId,
    created: { by: userId, at },
    modified: { action: 'create', by: userId, at },
  } as const;
  const root: StoredResource = {
    id: rootId,
    type: ORGANIZATION,
    name: 'root',
    parent: null,
    ...common,
    properties: {},
  };
  const user: StoredResource = {
    id: userId,
    type: USER,
    name: 'root',
    parent: rootId,
    ...common,
    properties: { password: await hashOf(rootPassword), platform_home: 'root' },
  };
  return { format: 1, id: randomUUID(), resources: { [rootId]: root, [userId]: user } };
}

/** A first world is where the published passwords are given. */
const hashOf = async (password: string) => publishedHash(password) ?? (await hashPassword(password));
