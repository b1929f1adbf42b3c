import type { LambdaInvoker, Outcome } from '../model/invocation.ts';
import type { World } from '../model/record.ts';
import { hostsOf } from '../platform/addresses.ts';
import { completeOptions } from '../platform/config.ts';
import { makeFirstWorld } from '../platform/first-world.ts';
import { type Actor, systemActor } from '../services/resources/actor.ts';
import { type ControlPlane, coreConfigOf, createControlPlaneServices } from '../services/resources/control-plane.ts';
import { RandomPasswords } from '../services/security/passwords.ts';
import { type WorldSeeds, type WorldSeedsOptions, worldSeeds } from '../services/seeds/world-seeds.ts';
import { openStore, type WorldStore } from '../storage/world/world-store.ts';

const addresses = () => ({ metaUrl: 'http://127.0.0.1:4700/meta', gatewayUrl: 'http://127.0.0.1:4701' });
const nowMs = () => Date.UTC(2026, 0, 2);

const NOT_RUN: Outcome = { ok: false, failure: 'interrupted', message: 'not run', value: { kind: 'nothing' } };

/** A runner for tests that cannot run lambdas. */
export const idleInvoker: LambdaInvoker = {
  invoke: async (lambdaId, { executionId, trigger }) => ({
    executionId,
    lambdaId,
    lambdaName: '',
    trigger,
    acceptedAtMs: 0,
    finishedAtMs: 0,
    cold: false,
    outcome: NOT_RUN,
    logs: [],
    outbound: [],
  }),
  refusal: () => NOT_RUN,
  reserveSlot: () => () => {},
};

/** The world of a first start, created once, because hashing the password is slow. */
export async function firstWorld(seed: string): Promise<World> {
  return makeFirstWorld(completeOptions({ seed }), {
    addresses,
    passwords: await RandomPasswords.open(undefined),
    nowMs,
    onWarning: () => {},
  });
}

/** A world in memory with its services and seeds. */
export type TestSeeds = ControlPlane & {
  store: WorldStore;
  act: Actor;
  seeds: WorldSeeds;
  randomPasswords: RandomPasswords;
  warnings: string[];
};

/**
 * Opens a world with everything that seeds need. Records that are changed in place fail the test.
 *
 * @param wrapStore wraps the store for the seeds, e.g. to change the world at a critical moment
 */
export async function openSeeds(
  world: World,
  invoker: LambdaInvoker = idleInvoker,
  wrapStore: (store: WorldStore) => WorldSeedsOptions['store'] = (store) => store,
): Promise<TestSeeds> {
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  const medium = { kind: 'memory' } as const;
  const store = await openStore({ medium, createWorld: () => world, nowMs, onWarning, freeze: true });
  const config = coreConfigOf(completeOptions({}), hostsOf(completeOptions({})));
  const options = { config, addresses, nowMs, onWarning };
  // Real hashes are too slow for worlds with many users.
  const core = createControlPlaneServices({
    ...options,
    invoker,
    store,
    hashPassword: async (password) => `hash of ${password}`,
  });
  const randomPasswords = await RandomPasswords.open(undefined);
  const seeds = worldSeeds({ ...options, store: wrapStore(store), randomPasswords });
  return { ...core, store, act: systemActor(store.view.root, 'api'), seeds, randomPasswords, warnings };
}

/** The text of an exported world. */
export async function exported(seeds: WorldSeeds, ...args: Parameters<WorldSeeds['export']>): Promise<string> {
  return [...(await seeds.export(...args))].join('');
}
