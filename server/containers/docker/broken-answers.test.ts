import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EngineUnreachable } from '../engine-errors.ts';
import { DockerEngine } from './docker-engine.ts';
import { type EngineDoor, makeEngineDoor } from './engine-door-for-tests.ts';
import { connectForTests, demandEngine, newWorldId } from './engine-for-tests.ts';

const LIMIT_MS = 30_000;
/** Well above what a call may take whose answer never comes, or comes too slowly. */
const NOTICED_MS = 9_000;

let door: EngineDoor;
let engine: DockerEngine;

beforeAll(demandEngine, LIMIT_MS);
beforeEach(async () => {
  door = await makeEngineDoor('tcp');
  await door.open();
  engine = new DockerEngine({ worldId: newWorldId(), connection: connectForTests(door.url) });
});
afterEach(async () => {
  engine.close();
  await door.remove();
});

async function failureOf(work: Promise<unknown>): Promise<{ failure: unknown; tookMs: number }> {
  const startedMs = performance.now();
  const failure = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { failure, tookMs: performance.now() - startedMs };
}

describe('an engine whose answers do not come whole', () => {
  it.each(['hang', 'drip'] as const)('fails what is asked of it when they %s', { timeout: LIMIT_MS }, async (how) => {
    await engine.beat();
    door[how]();
    const { failure, tookMs } = await failureOf(engine.beat());
    expect(failure).toBeInstanceOf(EngineUnreachable);
    expect(String(failure)).toContain(door.url);
    expect(tookMs).toBeLessThan(NOTICED_MS);
    await door.open();
    await engine.beat();
  });

  it.each([
    ['cut', 0],
    ['cut', 40],
    ['cut', 200],
    ['reset', 0],
    ['reset', 200],
  ] as const)('fails at once when one is %s after %i bytes', { timeout: LIMIT_MS }, async (how, afterBytes) => {
    await engine.ping();
    door.breakNext(how, afterBytes);
    const { failure, tookMs } = await failureOf(engine.ping());
    expect(failure).toBeInstanceOf(EngineUnreachable);
    expect(tookMs).toBeLessThan(NOTICED_MS / 3);
    expect(await engine.ping()).toMatch(/^Docker /);
  });

  it('fails at once what waits when it is let go', { timeout: LIMIT_MS }, async () => {
    await engine.beat();
    door.hang();
    const waiting = failureOf(engine.list());
    engine.close();
    expect((await waiting).failure).toBeInstanceOf(EngineUnreachable);
  });
});
