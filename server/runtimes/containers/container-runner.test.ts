import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { StoredResource } from '../../model/record.ts';
import { CONTAINER } from '../../model/types/container.ts';
import { attachedEngine } from '../../testing/attached-engine.ts';
import { type EngineServer, startEngineServer } from '../../testing/engine-server.ts';
import { ContainerRunner } from './container-runner.ts';
import type { Instance } from './engine.ts';
import type { EngineConnection } from './engine-connection.ts';
import type { Plan } from './workload.ts';

const RECOVERED_MS = 10_000;
const recordId = randomUUID();
const instance: Instance = {
  ...{ id: 'one', recordId, kind: 'container', revision: 'new', image: 'shop:1', state: 'running', health: 'healthy' },
  ...{ healthLimitMs: 0, restarts: 0, startedAtMs: 0, exitCode: undefined, wasKilledForMemory: false },
  ...{ error: undefined, addresses: [] },
};
const plan: Plan = {
  workload: {
    ...{ recordId, kind: 'container', name: 'shop', environmentId: randomUUID(), providerId: randomUUID() },
    ...{ revision: 'new', instances: 1, image: 'shop:1', forcePull: false, command: undefined, user: undefined },
    ...{ env: {}, labels: {}, cpus: 64, memoryBytes: 2 ** 25, ports: [], aliases: [], mounts: [], files: [] },
    health: undefined,
  },
  ...{ probes: [], portsByName: new Map(), notes: ['memory is small'] },
};
const record: StoredResource = {
  ...{ id: recordId, type: CONTAINER, name: 'shop', parent: randomUUID(), state: 'Active' },
  owner: randomUUID(),
  created: { by: randomUUID(), at: '2026-01-01T00:00:00.000Z' },
  modified: { action: 'create', by: randomUUID(), at: '2026-01-01T00:00:00.000Z' },
  properties: { num_instances: 1 },
};

let server: EngineServer;
let attached: EngineConnection;
let faults: unknown[];
let nowMs: number;
let statuses: unknown[];
let runner: ContainerRunner;

beforeEach(async () => {
  server = await startEngineServer();
  [nowMs, statuses] = [0, []];
  const fail = (fault: unknown) => {
    throw fault;
  };
  ({ connection: attached, faults } = attachedEngine(server));
  await attached.retry();
  runner = new ContainerRunner(record, plan, {
    ...{ attached, nowMs: () => nowMs, notesOn: () => ['port is another'], drain: async () => {} },
    ...{ onFault: fail, onChange: () => statuses.push(runner.status().status), onPull: () => {} },
  });
});
afterEach(async () => {
  await runner.stop();
  attached.stop();
  await server.stop();
  expect(faults).toEqual([]);
});

it.each([0, 5_000])(
  'a container is reported as HEALTHY when the restart of its instance is over on the clock of an engine %d ms ahead',
  async (aheadMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    runner.adopt([{ ...instance, restarts: 1, startedAtMs: aheadMs }]);
    await expect.poll(() => statuses.at(-1)).toBe('RUNNING');
    for (const _round of aheadMs === 0 ? [1] : [1, 2]) {
      nowMs += RECOVERED_MS;
      vi.advanceTimersByTime(RECOVERED_MS);
    }
    expect(statuses.at(-1)).toBe('HEALTHY');
  },
);

it('a status names each difference from the record, and the CPUs of the current definition during an update', () => {
  runner.adopt([
    { ...instance, id: 'old', revision: 'old', cpus: 1 },
    { ...instance, cpus: 2 },
  ]);
  expect(runner.status().status_detail).toEqual({
    reason: 'the container engine has 2 CPUs, so an instance gets 2 and not 64; memory is small; port is another',
  });
});

it('the status of a suspended container names no differences', () => {
  runner.change({ ...record, properties: { num_instances: 0 } }, plan);
  expect(runner.status()).not.toHaveProperty('status_detail');
});
