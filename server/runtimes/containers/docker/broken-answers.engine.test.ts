import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectForTests, newWorldId, requireEngine } from '../../../testing/engine.ts';
import { type EngineProxy, makeEngineProxy } from '../../../testing/engine-proxy.ts';
import { EngineUnreachable } from '../engine.ts';
import { DockerEngine } from './docker-engine.ts';

const BEAT_IS_MISSED_MS = 10_500;

let proxy: EngineProxy;
let engine: DockerEngine;

beforeAll(requireEngine);
beforeEach(async () => {
  proxy = await makeEngineProxy('tcp');
  await proxy.open();
  engine = new DockerEngine({ worldId: newWorldId(), connection: connectForTests(proxy.url) });
});
afterEach(async () => {
  engine.close();
  await proxy.remove();
});

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
/** The failure of a call that waited until its limit ended it. */
const TIMED_OUT = { cause: { code: 'ETIMEDOUT' } };

describe('an engine whose answers do not come whole', () => {
  it.each(['hang', 'drip'] as const)('fails what is asked of it when they %s', async (how) => {
    await engine.beat();
    proxy[how]();
    const failure = await failureOf(engine.beat());
    expect(failure).toBeInstanceOf(EngineUnreachable);
    expect(String(failure)).toContain(proxy.url);
    expect(failure).toMatchObject(TIMED_OUT);
    await proxy.open();
    await engine.beat();
  });

  it.each([
    ['cut', 0],
    ['cut', 40],
    ['cut', 200],
    ['reset', 0],
    ['reset', 200],
  ] as const)('fails at once when one is %s after %i bytes', async (how, afterBytes) => {
    await engine.ping();
    proxy.breakNext(how, afterBytes);
    const failure = await failureOf(engine.ping());
    expect(failure).toBeInstanceOf(EngineUnreachable);
    expect(failure).not.toMatchObject(TIMED_OUT);
    expect(await engine.ping()).toMatch(/^Docker /);
  });

  it('may take longer over its version than over whether it is there: Podman asks other programs for it', async () => {
    const connection = connectForTests(proxy.url);
    await connection.ask((docker) => docker.ping());
    proxy.hang();
    const versionRequest = connection.ask((docker) => docker.version());
    const [version] = await Promise.all([versionRequest, pause(BEAT_IS_MISSED_MS).then(() => proxy.open())]);
    expect(version).toHaveProperty('Version');
    connection.close();
  });

  it('fails at once what waits when it is let go', async () => {
    await engine.beat();
    proxy.hang();
    const waiting = failureOf(engine.list());
    engine.close();
    expect(await waiting).toBeInstanceOf(EngineUnreachable);
  });
});
