import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connectForTests,
  expectNoLeftovers,
  IDLE,
  newWorldId,
  requireEngine,
  serveOn,
  testImage,
} from '../../../testing/engine.ts';
import { makeEngineProxy } from '../../../testing/engine-proxy.ts';
import { type ApplyOptions, type EngineEvent, EngineRefusal, EngineUnreachable, type Workload } from '../engine.ts';
import { DockerEngine } from './docker-engine.ts';
import { networkName } from './instance-definition.ts';
import { ensureNetwork } from './networks.ts';

const LIMIT_MS = 60_000;
/** Shorter than the limit of a test, so that a failure shows the last value. */
const POLL = { interval: 50 };
/** The time that the engine takes to remove a network: longer than to answer whether it exists. */
const REMOVAL_MS = 500;

let image: string;
const worldId = newWorldId();
const environmentId = randomUUID();
let engine: DockerEngine;

beforeAll(async () => {
  await requireEngine();
  image = await testImage();
  engine = new DockerEngine({ worldId, connection: connectForTests() });
});
afterAll(async () => {
  for (const { recordId } of await engine.list()) await engine.remove(recordId);
  await engine.prune(() => false);
  engine.close();
  await expectNoLeftovers(worldId);
});

const workload = (change: Partial<Workload> = {}): Workload => ({
  recordId: randomUUID(),
  kind: 'container',
  name: 'app',
  environmentId,
  providerId: randomUUID(),
  revision: '1',
  instances: 1,
  image,
  forcePull: false,
  command: ['/bin/sh', '-c', IDLE],
  user: undefined,
  env: {},
  labels: {},
  cpus: 0.5,
  memoryBytes: 32 * 1024 * 1024,
  ports: [],
  aliases: [],
  mounts: [],
  files: [],
  health: undefined,
  ...change,
});
const apply = (requestedWorkload: Workload, options: Partial<ApplyOptions> = {}) =>
  engine.apply(requestedWorkload, {
    signal: new AbortController().signal,
    whenReady: async () => undefined,
    beforeRemoval: async () => undefined,
    ...options,
  });

describe('bringing a workload to its described state', () => {
  it('starts missing instances and keeps existing ones', async () => {
    const requestedWorkload = workload({ instances: 2, labels: { COMMIT_SHA: 'abc' } });
    await apply(requestedWorkload);
    const first = await engine.list(requestedWorkload.recordId);
    expect(first).toMatchObject([{ state: 'running' }, { state: 'running' }]);
    await apply(requestedWorkload);
    expect((await engine.list(requestedWorkload.recordId)).map(({ id }) => id)).toEqual(first.map(({ id }) => id));
    await apply({ ...requestedWorkload, instances: 1 });
    expect(await engine.list(requestedWorkload.recordId)).toHaveLength(1);
    await apply({ ...requestedWorkload, instances: 0 });
    expect(await engine.list(requestedWorkload.recordId)).toEqual([]);
  });

  it('replaces by new ones that are ready before the old ones go', async () => {
    const requestedWorkload = workload();
    await apply(requestedWorkload);
    const [old] = await engine.list(requestedWorkload.recordId);
    const steps: string[] = [];
    await apply(
      { ...requestedWorkload, revision: '2' },
      {
        whenReady: async ({ revision }) => void steps.push(`ready ${revision}`),
        beforeRemoval: async ({ id, revision }) => {
          steps.push(`remove ${revision}`);
          expect(id).toBe(old?.id);
          expect(await engine.list(requestedWorkload.recordId)).toHaveLength(2);
        },
      },
    );
    expect(steps).toEqual(['ready 2', 'remove 1']);
    expect(await engine.list(requestedWorkload.recordId)).toMatchObject([{ revision: '2', state: 'running' }]);
  });

  it('keeps the old ones when the new ones never get ready, and the log of these', async () => {
    const requestedWorkload = workload();
    await apply(requestedWorkload);
    const { recordId } = requestedWorkload;
    const written = async () =>
      (await engine.logs(recordId, { sinceMs: 0, stderr: true, tail: 100 })).map(({ text }) => text);
    const update = apply(
      { ...requestedWorkload, revision: '2', command: ['/bin/sh', '-c', `echo new; ${IDLE}`] },
      {
        whenReady: async () => {
          await expect.poll(written).toEqual(['new']);
          throw new Error('never healthy');
        },
      },
    );
    await expect(update).rejects.toThrow('never healthy');
    expect(await engine.list(recordId)).toMatchObject([{ revision: '1', state: 'running' }]);
    expect(await written()).toEqual(['new']);
  });

  it('creates the network of an environment again after another program removed it', async () => {
    const requestedWorkload = workload({ environmentId: randomUUID() });
    await apply(requestedWorkload);
    await apply({ ...requestedWorkload, instances: 0 });
    const docker = await requireEngine();
    await docker.getNetwork(networkName(worldId, requestedWorkload.environmentId)).remove();
    await apply(requestedWorkload);
    expect(await engine.list(requestedWorkload.recordId)).toMatchObject([{ state: 'running' }]);
    await engine.remove(requestedWorkload.recordId);
  });

  it('creates a network that is needed again while it is being removed through another connection', async () => {
    const proxy = await makeEngineProxy();
    await proxy.open();
    const pruning = new DockerEngine({ worldId, connection: connectForTests(proxy.url) });
    const removedId = randomUUID();
    const Name = networkName(worldId, removedId);
    const ensure = () => ensureNetwork(connectForTests(), { worldId }, removedId, { Name, Driver: 'bridge' });
    await ensure();
    let ensured: Promise<void> | undefined;
    await pruning.prune((_kind, id) => {
      if (id !== removedId) return true;
      proxy.hang();
      setTimeout(() => proxy.open(), REMOVAL_MS);
      ensured = ensure();
      return false;
    });
    await ensured;
    const docker = await requireEngine();
    expect((await docker.getNetwork(Name).inspect()).Labels).toMatchObject({ 'terrarium.environment': removedId });
    pruning.close();
    await proxy.remove();
  });

  it('says of an instance that has ended that it cannot be measured', async () => {
    const requestedWorkload = workload({ kind: 'job', command: ['/bin/true'] });
    await apply(requestedWorkload);
    const stateOf = async () => (await engine.list(requestedWorkload.recordId))[0]?.state;
    await expect.poll(stateOf, POLL).toMatch(/^(exited|failed)$/);
    const [ended] = await engine.list(requestedWorkload.recordId);
    const measuring = engine.stats(ended?.id ?? '');
    await expect(measuring).rejects.toMatchObject({ name: 'EngineRefusal', kind: 'missing' });
  });

  it('gives environment, user, files, volumes and a published port', async () => {
    const volumeId = randomUUID();
    const requestedWorkload = workload({
      env: { GREETING: 'hello there' },
      files: [{ path: '/run/secrets/key', content: Buffer.from('s3cret') }],
      mounts: [
        { kind: 'volume', path: '/data', volumeId, isReadOnly: false },
        { kind: 'empty', path: '/scratch' },
      ],
      ports: [{ containerPort: 8080, protocol: 'tcp', isPublished: true }],
      command: ['/bin/sh', '-c', `echo "$GREETING" > /www/index.html; ${serveOn(8080)}`],
    });
    await apply(requestedWorkload);
    const [instance] = await engine.list(requestedWorkload.recordId);
    const [address] = instance?.addresses ?? [];
    const answer = async () => (await fetch(`http://${address?.host}:${address?.port}/`)).text().catch(() => '');
    await expect.poll(() => answer().catch(() => ''), POLL).toBe('hello there\n');
    expect(await engine.exec(instance?.id ?? '', ['cat', '/run/secrets/key'])).toEqual({
      exitCode: 0,
      isCut: false,
      stdout: 's3cret',
      stderr: '',
    });
    await engine.exec(instance?.id ?? '', ['sh', '-c', 'echo kept > /data/file']);
    await apply({ ...requestedWorkload, revision: '2' });
    const [next] = await engine.list(requestedWorkload.recordId);
    expect((await engine.exec(next?.id ?? '', ['cat', '/data/file'])).stdout).toBe('kept\n');
    expect((await engine.stats(next?.id ?? '')).memoryLimitBytes).toBe(32 * 1024 * 1024);
    await engine.remove(requestedWorkload.recordId);
  });

  it('lets instances of an environment find each other by name', async () => {
    const serve = ['/bin/sh', '-c', `echo found > /www/index.html; ${serveOn(80)}`];
    const [server, client] = [
      workload({ aliases: ['shop', 'shop.env.svc.cluster.local'], command: serve }),
      workload(),
    ];
    await Promise.all([apply(server), apply(client)]);
    const [clientInstance] = await engine.list(client.recordId);
    const read = async (host: string) =>
      (await engine.exec(clientInstance?.id ?? '', ['wget', '-qO-', `http://${host}/`])).stdout;
    await expect.poll(() => read('shop'), POLL).toBe('found\n');
    expect(await read('shop.env.svc.cluster.local')).toBe('found\n');
  });

  it('runs a job once', async () => {
    const requestedWorkload = workload({ kind: 'job', command: ['/bin/sh', '-c', 'echo done; exit 3'] });
    await apply(requestedWorkload);
    await expect
      .poll(async () => engine.list(requestedWorkload.recordId), POLL)
      .toMatchObject([{ state: 'exited', exitCode: 3, kind: 'job' }]);
    const [ended] = await engine.list(requestedWorkload.recordId);
    await apply(requestedWorkload);
    expect((await engine.list(requestedWorkload.recordId)).map(({ id }) => id)).toEqual([ended?.id]);
  });
});

describe('failures', () => {
  it('an image that cannot be pulled is refused with what to do', async () => {
    const failure = await apply(workload({ image: 'terrarium-test/nothing:1' })).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(EngineRefusal);
    expect(failure).toMatchObject({
      kind: 'image',
      message: expect.stringContaining("image 'terrarium-test/nothing:1' cannot be pulled"),
    });
  });

  it('an image that is here is used when it cannot be pulled again', async () => {
    const requestedWorkload = workload({ forcePull: true });
    await apply(requestedWorkload);
    expect(await engine.list(requestedWorkload.recordId)).toMatchObject([{ state: 'running' }]);
  });

  it('a command that there is none of is refused, and nothing stays', async () => {
    const requestedWorkload = workload({ command: ['/no/such/program'] });
    await expect(apply(requestedWorkload)).rejects.toThrow(/no such file/);
    expect(await engine.list(requestedWorkload.recordId)).toEqual([]);
  });

  it('an instance that exceeds its memory limit reports that it was killed for it', async () => {
    // With much less, the engine itself may not get the container started.
    const requestedWorkload = workload({ kind: 'job', memoryBytes: 32 * 1024 * 1024, command: ['tail', '/dev/zero'] });
    await apply(requestedWorkload);
    await expect
      .poll(() => engine.list(requestedWorkload.recordId), POLL)
      .toMatchObject([{ state: 'exited', wasKilledForMemory: true }]);
  });

  it('an unreachable engine is reported with its address', async () => {
    const anonymous = new DockerEngine({ worldId, connection: connectForTests('unix:///no/such/docker.sock') });
    const failure = await anonymous.ping().catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(EngineUnreachable);
    expect(failure).toMatchObject({
      message: expect.stringContaining('unix:///no/such/docker.sock (the socket does not exist)'),
    });
  });
});

describe('what instances tell', () => {
  it('their output, merged, with and without standard error; live, too', async () => {
    const requestedWorkload = workload({
      command: ['/bin/sh', '-c', 'echo one; echo two >&2; while true; do echo tick; sleep 1; done'],
    });
    let reported = 0;
    const stop = await engine.follow(requestedWorkload.recordId, () => {
      reported += 1;
    });
    await apply(requestedWorkload);
    await expect.poll(() => reported, POLL).toBeGreaterThan(0);
    const before = reported;
    await expect.poll(() => reported, POLL).toBeGreaterThan(before + 1);
    stop();
    const all = await engine.logs(requestedWorkload.recordId, { sinceMs: 0, stderr: true, tail: 100 });
    expect(all).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ text: 'one', stream: 'stdout' }),
        expect.objectContaining({ text: 'two', stream: 'stderr' }),
      ]),
    );
    const [instance] = await engine.list(requestedWorkload.recordId);
    expect(new Set(all.map((line) => line.instance))).toEqual(new Set([instance?.id]));
    expect(all[0]?.atMs).toBeGreaterThan(Date.now() - LIMIT_MS);
    const plain = await engine.logs(requestedWorkload.recordId, { sinceMs: 0, stderr: false, tail: 100 });
    expect(plain.map(({ text }) => text)).not.toContain('two');
    expect(await engine.logs(requestedWorkload.recordId, { sinceMs: 0, stderr: true, tail: 1 })).toHaveLength(1);
  });

  it('events of this world only', async () => {
    const other = new DockerEngine({ worldId: newWorldId(), connection: connectForTests() });
    const worldEvents: EngineEvent[] = [];
    const otherWorldEvents: EngineEvent[] = [];
    const ends = [
      await engine.watch((event) => worldEvents.push(event)),
      await other.watch((event) => otherWorldEvents.push(event)),
    ];
    const requestedWorkload = workload();
    await apply(requestedWorkload);
    await expect
      .poll(() => worldEvents, POLL)
      .toContainEqual(expect.objectContaining({ recordId: requestedWorkload.recordId, action: 'start' }));
    expect(otherWorldEvents).toEqual([]);
    for (const end of ends) end();
    other.close();
  });
});
