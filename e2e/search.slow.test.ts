import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SearchPart } from '../server/api/routes/search.ts';
import { rootPairOf } from '../server/testing/account.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import { canWatchTurns, undisturbedMs, watchTurns } from '../server/testing/turn-watch.ts';
import { growForms } from './long-past.ts';

/** Each is a request, an invocation, an outbound call and a log line. */
const FORMS = 25_000;
const RECORDS = 4 * FORMS;
const FIRST_MS = 100;
const COMPLETE_MS = 2_000;
const TURN_MS = 100;

const data = await mkdtemp(join(tmpdir(), 'terrarium-search-'));
let platform: Platform;

beforeAll(async () => {
  const records = { maxItems: RECORDS, maxBytes: 1 << 30 };
  await (await startPlatform({ data, seed: 'demo' })).stop();
  await growForms(data, 'contact-form', FORMS, RECORDS);
  platform = await startPlatform({ data, seed: 'demo', records });
}, 120_000);
afterAll(async () => {
  await platform.stop();
  await rm(data, { recursive: true, maxRetries: 3 });
});

/** The processor time of this process, which does not depend on what else the machine does. */
function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Searches until it is complete, or until the first match. */
async function search(q: string, isEnough: (part: SearchPart) => boolean = () => false) {
  const ends = new AbortController();
  const beganMs = usedMs();
  const { body } = await fetch(`${platform.emulator.baseUrl}/inspect/search?q=${encodeURIComponent(q)}`, {
    headers: { authorization: rootPairOf(platform) },
    signal: ends.signal,
  });
  const parts: SearchPart[] = [];
  let [rest, firstMs] = ['', Number.POSITIVE_INFINITY];
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const part: SearchPart = JSON.parse(line);
      parts.push(part);
      if (part.hits.length > 0) firstMs = Math.min(firstMs, usedMs() - beganMs);
      if (isEnough(part)) {
        ends.abort();
        return { parts, firstMs, tookMs: usedMs() - beganMs };
      }
    }
  }
  return { parts, firstMs, tookMs: usedMs() - beganMs };
}

it(`finds the first of ${RECORDS} records within ${FIRST_MS} ms and all within ${COMPLETE_MS} ms`, async () => {
  await search('warm up');
  const { parts, tookMs } = await search('visitor-17@example.com');
  expect(parts.at(-1)).toMatchObject({ isComplete: true, found: { request: 1, invocation: 1, call: 1 } });
  expect(parts.at(-1)?.searched).toBeGreaterThan(RECORDS);
  expect(undisturbedMs(tookMs)).toBeLessThan(COMPLETE_MS);
  const { firstMs } = await search('visitor example.com', ({ hits }) => hits.length > 0);
  expect(undisturbedMs(firstMs)).toBeLessThan(FIRST_MS);
});

it.runIf(canWatchTurns)('lets other requests have their turn', async () => {
  const { longestMs } = await watchTurns(() => search('visitor-17@example.com'));
  expect(longestMs).toBeLessThan(TURN_MS);
});
