import { completeOptions } from '../server/config.ts';
import { makeFirstWorld } from '../server/emulator/first-world.ts';
import { coreConfigOf } from '../server/emulator/listeners.ts';
import type { LambdaInvoker, Outcome } from '../server/model/invocation.ts';
import type { World } from '../server/model/record.ts';
import { type Act, rootAct } from '../server/resources/act.ts';
import { type Core, createCore } from '../server/resources/core.ts';
import { type WorldSeeds, type WorldSeedsOptions, worldSeeds } from '../server/seed/world-seeds.ts';
import { openStore, type WorldStore } from '../server/store/world-store.ts';

const addresses = () => ({ metaUrl: 'http://127.0.0.1:4700/meta', gatewayUrl: 'http://127.0.0.1:4701' });
const nowMs = () => Date.UTC(2026, 0, 2);

const NOT_RUN: Outcome = { ok: false, failure: 'interrupted', message: 'not run', value: { kind: 'nothing' } };

/** For tests: runs no lambda. */
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
  holdPlace: () => () => {},
};

/** For tests: the world of a first start. Making one takes a while, for a password is hashed. */
export function firstWorld(seed: string): Promise<World> {
  return makeFirstWorld(completeOptions({ seed }), { addresses, nowMs, onWarning: () => {} });
}

/** For tests: a world in memory, what changes it, and its seeds. */
export type SeedsForTests = Core & {
  store: WorldStore;
  act: Act;
  seeds: WorldSeeds;
  warnings: string[];
};

/**
 * For tests: opens a world and what seeds need around it. Records that are changed in place make a test fail.
 *
 * @param around what stands between the seeds and the store, e.g. to change the world at the worst moment
 */
export async function openSeeds(
  world: World,
  invoker: LambdaInvoker = idleInvoker,
  around: (store: WorldStore) => WorldSeedsOptions['store'] = (store) => store,
): Promise<SeedsForTests> {
  const warnings: string[] = [];
  const onWarning = (message: string) => warnings.push(message);
  const medium = { kind: 'memory' } as const;
  const store = await openStore({ medium, createWorld: () => world, nowMs, onWarning, freeze: true });
  const config = coreConfigOf(completeOptions({}));
  const options = { config, addresses, nowMs, onWarning };
  // Real hashes take too long for worlds with many users.
  const core = createCore({
    ...options,
    invoker,
    store,
    hashPassword: async (password) => `hash of ${password}`,
  });
  const seeds = worldSeeds({ ...options, store: around(store) });
  return { ...core, store, act: rootAct(store.view.root, 'api'), seeds, warnings };
}
