import { randomUUID } from 'node:crypto';
import { type KeptOutboundRules, outboundRulesIn } from '../inspector/devtools/outbound-rules.ts';
import { type ScmAccess, withScmAt } from '../mocks/scm/scm-access.ts';
import { PlatformError } from '../model/errors.ts';
import type { OutboundRulesRequest } from '../model/outbound-rules-request.ts';
import type { StoredResource, World } from '../model/record.ts';
import { ORGANIZATION } from '../model/rules/hierarchy.ts';
import { USER } from '../model/type-names.ts';
import type { FreshWorld } from '../services/history/reset-routes.ts';
import { systemActor } from '../services/resources/actor.ts';
import { type CoreOptions, coreConfigOf, createControlPlaneServices } from '../services/resources/control-plane.ts';
import type { RandomPasswords } from '../services/security/passwords.ts';
import { applySeed } from '../services/seeds/apply-seed.ts';
import { readGivenSeed, readPreparedSeed, readSeed } from '../services/seeds/read-seed.ts';
import { SeedError } from '../services/seeds/seed-error.ts';
import type { Seed } from '../services/seeds/seed-node.ts';
import { seedTarget, TrialWorld } from '../services/seeds/seed-target.ts';
import { type FsyncPolicy, notWritten, type StoreFiles } from '../storage/files/files.ts';
import { openKeyedLog } from '../storage/files/keyed-log.ts';
import { packageFile } from '../system/package-file.ts';
import { hostsOf } from './addresses.ts';
import type { Config } from './config-schema.ts';

export interface FirstWorldOptions extends Pick<CoreOptions, 'addresses' | 'nowMs' | 'onWarning'> {
  passwords: RandomPasswords;
  /** Content of a seed file, in place of the one that the configuration names. */
  seed?: object | undefined;
  /** Saves the seed's rules for outbound calls, which are not part of the world. */
  saveRules?(rules: OutboundRulesRequest['rules']): Promise<void>;
}

/**
 * Makes the world of a first start: root organization and user (D-175), then what the seed says. It is made in memory and
 * handed over whole, so that a seed that fails half-way leaves nothing behind.
 *
 * @throws SeedError naming the line of the seed file that cannot be applied
 */
export async function makeFirstWorld(
  config: Config,
  { seed: seedInput, passwords, saveRules, ...options }: FirstWorldOptions,
): Promise<World> {
  const seed = await (seedInput ? readGivenSeed(seedInput) : seedNamed(config.seed));
  const rootPassword = config.rootPassword ?? (await passwords.draw('root'));
  const bare = bareWorld(await passwords.hash(rootPassword), options.nowMs());
  const store = new TrialWorld(new Map(Object.entries(bare.resources)));
  const core = createControlPlaneServices({
    ...options,
    store,
    config: coreConfigOf(config, hostsOf(config)),
    hashPassword: (password) => passwords.hash(password),
  });
  await applySeed(seed, seedTarget(core, systemActor(store.view.root, 'seed'), passwords));
  await saveRules?.(seed.outbound ?? []);
  const { put } = store.difference();
  const createdEntries = put.map((record) => [record.id, record]);
  return { ...bare, resources: { ...bare.resources, ...Object.fromEntries(createdEntries) } };
}

/** Saves the outbound rules of a new world. They replace those of a first start that was killed before it saved its world. */
export async function saveFirstRules(
  files: StoreFiles,
  rules: OutboundRulesRequest['rules'],
  options: { fsync: FsyncPolicy; onWarning(message: string): void },
): Promise<void> {
  const log = await openKeyedLog<KeptOutboundRules>(files, { name: 'outbound-rules', ...options });
  try {
    const stored = outboundRulesIn(log, async () => {});
    if (rules.length + stored.kept().rules.length === 0) return;
    await stored.replace({ rules }).catch((error: unknown) => {
      throw notWritten(files.pathOf('outbound-rules.jsonl'), error);
    });
  } finally {
    await log.close();
  }
}

/** Creates worlds as at a first start, for resets. @param scm the current address of the mock GitLab */
export function freshWorldsOf(config: Config, options: FirstWorldOptions, scm: () => ScmAccess): FreshWorld {
  return async (seed) => {
    try {
      const world = await (seed === 'configured'
        ? makeFirstWorld(config, options)
        : makeFirstWorld({ ...config, seed }, { ...options, seed: undefined }));
      const records = Object.values(world.resources).map((record) => withScmAt(record, scm()));
      return new Map(records.map((record) => [record.id, record]));
    } catch (cause) {
      if (!(cause instanceof SeedError)) throw cause;
      throw new PlatformError('operation_failed', `the seed cannot be used: ${cause.message}`, { cause });
    }
  };
}

function seedNamed(seed: string): Promise<Seed> {
  return seed === 'demo' || seed === 'empty'
    ? readPreparedSeed(packageFile(`fixtures/worlds/${seed}.yaml`), packageFile('dist/server/worlds.json'))
    : readSeed(seed);
}

function bareWorld(rootPasswordHash: string, nowMs: number): World {
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
  const properties = { password: rootPasswordHash, platform_home: 'root' };
  const user: StoredResource = { id: userId, type: USER, name: 'root', parent: rootId, ...common, properties };
  return { format: 1, id: randomUUID(), resources: { [rootId]: root, [userId]: user } };
}
