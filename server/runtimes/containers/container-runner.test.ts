import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { StoredResource } from '../../model/record.ts';
import { CONTAINER } from '../../model/types/container.ts';
import { attachedEngine } from '../../testing/attached-engine.ts';
import { type EngineServer, json, startEngineServer } from '../../testing/engine-server.ts';
import { ContainerRunner } from './container-runner.ts';
import type { Instance } from './engine.ts';
import type { EngineConnection } from './engine-connection.ts';
import type { Plan } from './plan.ts';

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

/** A running instance as the daemon describes it. */
const running = (Id: string, revision: string) => ({
  ...{ Id, State: { Status: 'running', Running: true, StartedAt: '2026-01-01T00:00:00Z' }, Image: 'shop' },
  Config: { Labels: { 'terrarium.record': recordId, 'terrarium.revision': revision } },
  ...{ HostConfig: {}, NetworkSettings: {} },
});

let server: EngineServer;
let attached: EngineConnection;
let faults: unknown[];
let states: string[];
let nowMs: number;
let statuses: unknown[];
let runner: ContainerRunner;

beforeEach(async () => {
  server = await startEngineServer();
  [nowMs, statuses] = [0, []];
  ({ connection: attached, faults, states } = attachedEngine(server));
  await attached.retry();
  runner = runnerOf(plan);
});
function runnerOf(firstPlan: Plan): ContainerRunner {
  const fail = (fault: unknown) => {
    throw fault;
  };
  return new ContainerRunner(record, firstPlan, {
    ...{ attached, nowMs: () => nowMs, notesOn: () => ['port is another'], drain: async () => {} },
    ...{ onFault: fail, onChange: () => statuses.push(runner.status().status), onPull: () => {} },
  });
}
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

it('a container is SCALING from a change of its definition on, as long as its instances have an older one', async () => {
  runner.adopt([instance]);
  await expect.poll(() => statuses.at(-1)).toBe('HEALTHY');
  runner.change(record, { ...plan, workload: { ...plan.workload, revision: 'newer' } });
  expect(runner.status()).toMatchObject({ status: 'SCALING', tasks_running: 1 });
});

it('an instance of an earlier definition serves at its earlier port, also if the new definition has a health check', async () => {
  runner = runnerOf({ ...plan, portsByName: new Map([['web', 80]]) });
  const port = Number(new URL(server.url).port);
  const address = { host: '127.0.0.1', port };
  runner.adopt([{ ...instance, health: 'none', addresses: [{ ...address, containerPort: 80 }] }]);
  await expect.poll(() => statuses.at(-1)).toBe('RUNNING');
  const health = { command: 'true', graceMs: 0, intervalMs: 1_000, timeoutMs: 1_000, failures: 1 };
  const workload = { ...plan.workload, revision: 'newer', health };
  runner.change(record, { ...plan, workload, portsByName: new Map([['web', 8080]]) });
  expect(runner.servingAt('web')).toEqual([{ ...address, instanceId: instance.id }]);
});

it('an instance of an earlier definition serves at its port, also if the new definition gives it another name', async () => {
  runner = runnerOf({ ...plan, portsByName: new Map([['web', 80]]) });
  const address = { host: '127.0.0.1', port: Number(new URL(server.url).port) };
  runner.adopt([{ ...instance, health: 'none', addresses: [{ ...address, containerPort: 80 }] }]);
  await expect.poll(() => statuses.at(-1)).toBe('RUNNING');
  const workload = { ...plan.workload, revision: 'newer' };
  runner.change(record, { ...plan, workload, portsByName: new Map([['http', 80]]) });
  expect(runner.servingAt('http')).toEqual([{ ...address, instanceId: instance.id }]);
});

it('an instance that only its image has a check for gets requests when its port is open', async () => {
  runner = runnerOf({ ...plan, portsByName: new Map([['web', 80]]) });
  const address = { host: '127.0.0.1', port: Number(new URL(server.url).port) };
  runner.adopt([{ ...instance, addresses: [{ ...address, containerPort: 80 }] }]);
  expect(runner.servingAt('web')).toEqual([]);
  await expect.poll(() => runner.servingAt('web')).toEqual([{ ...address, instanceId: instance.id }]);
});

it('an instance that the engine does not remove for a restart serves again', async () => {
  runner = runnerOf({ ...plan, portsByName: new Map([['web', 80]]) });
  const address = { host: '127.0.0.1', port: Number(new URL(server.url).port) };
  const ports = { '80/tcp': [{ HostIp: address.host, HostPort: String(address.port) }] };
  server.answer(/^\/containers\/json/, json([{ Id: instance.id, Created: 1 }]));
  server.answer(/^\/containers\/one\/json/, json({ ...running('one', 'new'), NetworkSettings: { Ports: ports } }));
  server.answer(/^\/containers\/one\/stop/, json({ message: 'disk full' }, 500));
  server.answer(/^\/containers\/one\?/, json({ message: 'disk full' }, 500));
  runner.refresh();
  await expect.poll(() => runner.servingAt('web')).toHaveLength(1);
  await expect(runner.restart()).rejects.toThrow('disk full');
  expect(runner.servingAt('web')).toHaveLength(1);
});

it('the instances that serve go on serving when a change is taken back before its instances are removed', async () => {
  const health = { command: 'true', graceMs: 0, intervalMs: 1_000, timeoutMs: 1_000, failures: 1 };
  const original = { ...plan, workload: { ...plan.workload, health }, portsByName: new Map([['web', 80]]) };
  const address = { host: '127.0.0.1', port: 1 };
  const keepHealthy = (id: string, revision: string) => {
    const found = running(id, revision);
    const State = { ...found.State, Health: { Status: 'healthy' } };
    const Ports = { '80/tcp': [{ HostIp: address.host, HostPort: String(address.port) }] };
    server.answer(new RegExp(`^/containers/${id}/json`), json({ ...found, State, NetworkSettings: { Ports } }));
    return { Id: id, Created: 1 };
  };
  server.answer(/^\/containers\/json/, json([keepHealthy('one', 'new'), keepHealthy('two', 'newer')]));
  server.answer(/^\/containers\/create/, json({ message: 'disk full' }, 500));
  runner = runnerOf(original);
  runner.adopt([{ ...instance, addresses: [{ ...address, containerPort: 80 }] }]);
  runner.change(record, { ...original, workload: { ...original.workload, revision: 'newer', instances: 2 } });
  await expect.poll(() => runner.instances).toHaveLength(2);
  runner.change(record, original);
  expect(runner.servingAt('web')).toContainEqual({ ...address, instanceId: 'one' });
});

it('a check that passed meanwhile has failed since its new failure, and not since an earlier one', () => {
  const failedCheck = { check: 'COMMAND check', result: 'exit code 1', sinceMs: 1_000, isCut: true };
  runner.adopt([{ ...instance, failedCheck }]);
  runner.adopt([{ ...instance, failedCheck: { ...failedCheck, sinceMs: 5_000 } }]);
  expect(runner.status()).toMatchObject({
    status_detail: { reason: expect.stringContaining('since 1970-01-01T00:00:01') },
  });
  runner.adopt([{ ...instance, failedCheck: { ...failedCheck, sinceMs: 9_000, isCut: false } }]);
  expect(runner.status()).toMatchObject({
    status_detail: { reason: expect.stringContaining('since 1970-01-01T00:00:09') },
  });
});

it('an update that fails is tried again after growing delays, although the old instance runs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  server.answer(/^\/containers\/json/, json([{ Id: 'old', Created: 1 }]));
  server.answer(/^\/containers\/old\/json/, json(running('old', 'old')));
  server.answer(/^\/containers\/create/, json({ message: 'disk full' }, 500));
  const startMs = Date.now();
  const attempts = () => {
    vi.advanceTimersByTime(100);
    return server.requests.filter((path) => path.startsWith('/containers/create')).length;
  };
  runner.wake();
  await expect.poll(attempts, { interval: 10 }).toBe(4);
  expect(Date.now() - startMs).toBeGreaterThanOrEqual(500 + 2_000 + 5_000);
});

it('a start that failed is tried again when the engine is back, if the engine went away meanwhile', async () => {
  const create = /^\/containers\/create/;
  const attempts = () => server.requests.filter((path) => create.test(path)).length;
  server.answer(create, json({ message: 'the daemon is shutting down' }, 500));
  runner.wake();
  await expect.poll(() => statuses.at(-1)).toBe('FAILED');
  server.answer(create, (response) => void response.destroy());
  await expect.poll(() => states).toContain('unreachable');
  await expect.poll(() => attached.state.kind).toBe('ready');
  const attemptsBefore = attempts();
  runner.adopt([]);
  await expect.poll(attempts).toBeGreaterThan(attemptsBefore);
});

it('the status of a suspended container names no differences', () => {
  runner.change({ ...record, properties: { num_instances: 0 } }, plan);
  expect(runner.status()).not.toHaveProperty('status_detail');
});
