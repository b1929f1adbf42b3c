import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { windowRows } from '../contract/window.ts';
import type { PlatformCalls } from './platform-calls.ts';

/** How long an app may take from its deployment to its first answer, as long as nothing is heard of it. */
const LIMIT_MS = 60_000;
const LOOK_EVERY_MS = 200;
const ANSWER_TIMEOUT_MS = 5_000;
/** What the gateway itself says while nothing stands behind an address. */
const NOBODY_THERE = [502, 503, 504];

const container = z.looseObject({
  properties: z.looseObject({
    status: z.string(),
    status_detail: z.looseObject({ reason: z.string().optional() }).nullish(),
    image: z.string().optional(),
  }),
});

/** Where an app was deployed to. */
export interface Deployed {
  /** Undefined where nobody says which container it is. */
  containerId: string | undefined;
  url: string | undefined;
}

/** Resolves once the app runs and its address answers; to the reason when it comes to nothing. `tell` hears how far it is. */
export async function whenItAnswers(
  platform: PlatformCalls,
  { containerId, url }: Deployed,
  { signal, tell }: { signal: AbortSignal; tell(text: string): void },
): Promise<string | undefined> {
  let untilMs = performance.now() + LIMIT_MS;
  let last = '';
  const told = new Set<string>();
  const say = (text: string) => {
    last = text;
    if (told.has(text)) return; // what comes again and again is no news
    told.add(text);
    untilMs = performance.now() + LIMIT_MS;
    tell(text);
  };
  let answer = 'it has not been asked';
  while (performance.now() < untilMs) {
    const { status, reason } =
      containerId === undefined ? { status: 'RUNNING', reason: undefined } : await statusOf(platform, containerId);
    if (status === 'FAILED') return `its container is FAILED: ${reason ?? 'no reason is known'}`;
    // One that does not answer may be back any time; one that is switched off may not.
    if (status === 'LOST' && (await isEngineOff(platform)))
      return `its container cannot run: ${reason ?? 'no container engine is attached'}`;
    if (status === 'DELETED') return 'its container was deleted';
    if (status === 'RUNNING' || status === 'HEALTHY') {
      if (url === undefined) return undefined;
      answer = await ask(url);
      if (answer === '') return undefined;
      say(`the app's container is ${status}, its address does not answer yet (${answer})`);
    } else {
      say(`the app's container is ${status}${reason ? `: ${reason}` : ''}`);
    }
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  return `it does not answer after ${LIMIT_MS / 1_000} s without news: ${last}`;
}

async function statusOf(platform: PlatformCalls, id: string): Promise<{ status: string; reason: string | undefined }> {
  try {
    const { properties } = await platform.json('GET', `/meta/root/containers/${encodeURIComponent(id)}`, container);
    return { status: properties.status, reason: properties.status_detail?.reason };
  } catch (failure) {
    if (Object(failure).status === 404) return { status: 'DELETED', reason: undefined };
    throw failure;
  }
}

/** Is there no container engine, and was none wanted? Another platform does not say. */
async function isEngineOff(platform: PlatformCalls): Promise<boolean> {
  const known = await platform.ask(windowRows.readStatus).catch(() => undefined);
  return known !== undefined && known.engines.length > 0 && known.engines.every(({ state }) => state === 'off');
}

/** Empty when somebody answers who is not the gateway. */
async function ask(url: string): Promise<string> {
  try {
    const response = await fetch(`${url.replace(/\/$/, '')}/`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    await response.body?.cancel();
    return NOBODY_THERE.includes(response.status) ? `it answers ${response.status}` : '';
  } catch (failure) {
    const cause = Object(failure).cause;
    return cause instanceof Error ? cause.message : String(Object(failure).message);
  }
}
