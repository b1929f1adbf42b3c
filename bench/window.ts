// What the window costs: scripts until the first picture, time until one can work with it, memory, and how long after an event it
// is on the screen; beside a world without a past, and at rest beside under load. Takes Chromium (see playwright.config.ts) and a build.
//
//   node bench/run.mjs window [INVOCATIONS]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { chromium, type Page } from '@playwright/test';
import { PlatformProcess } from '../e2e/platform-process.ts';
import settings from '../playwright.config.ts';
import { printLines } from './speed/goals.ts';

const INVOCATIONS = Number(process.argv[2] ?? 50_000);
const CALLERS = 16;
const LOAD_PER_S = 200;
const EVENTS = 40;
const VIEWPORT = { width: 1360, height: 850 };
/** Answers at once. */
const CODE = 'exports.run = (event, context, callback) => callback(null, { ok: true, event: JSON.parse(event) });';

// What runs in the page is text: the types of browsers are not those of this program.
const SCROLL_ALL = `(async () => {
  const scroller = document.querySelector('[role=grid]').parentElement;
  const gaps = [];
  let last = performance.now();
  let [unchanged, height] = [0, 0];
  while (unchanged < 120) {
    scroller.scrollBy(0, 2000);
    await new Promise(requestAnimationFrame);
    gaps.push(performance.now() - last);
    last = performance.now();
    const isAtEnd = scroller.scrollTop + scroller.clientHeight >= height - 2;
    unchanged = scroller.scrollHeight === height && isAtEnd ? unchanged + 1 : 0;
    height = scroller.scrollHeight;
  }
  return { gaps, rows: Number(document.querySelector('[role=grid]').getAttribute('aria-rowcount')) - 1 };
})()`;
/** Notes for each row, by the id in its last cell, when it was first drawn. */
const WATCH_ROWS = `(() => {
  const seen = (globalThis.seen = new Map());
  const look = () => {
    for (const cell of document.querySelectorAll('[role=row] [role=gridcell]:last-child')) {
      const id = cell.textContent;
      if (seen.has(id)) continue;
      seen.set(id, undefined);
      requestAnimationFrame(() => seen.set(id, performance.timeOrigin + performance.now()));
    }
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
})()`;

const folder = await mkdtemp(join(tmpdir(), 'terrarium-bench-window-'));
const platform = new PlatformProcess(folder, ['--containers-engine', 'none']);
const browser = await chromium.launch(settings.use?.launchOptions ?? {});
try {
  await platform.start();
  const page = await browser.newPage({ viewport: VIEWPORT });
  console.log('scripts');
  const scripts = await scriptsOf(page, () => platform.open(page));
  console.log(`  until Home is there: ${kB(scripts)} gzipped`);

  const path = await publish(page);
  await platform.call(path, { n: 0 });
  const empty = await visit(page);
  console.log(`\n1 invocation\n  ${described(empty)}`);

  const startedMs = performance.now();
  await callMany(path, INVOCATIONS);
  console.log(`\n${INVOCATIONS} invocations (recorded in ${((performance.now() - startedMs) / 1000).toFixed(0)} s)`);
  const full = await visit(page);
  console.log(`  ${described(full)}`);
  console.log(`  interactive: ${(full.interactiveMs / empty.interactiveMs).toFixed(2)}x of 1 invocation`);
  const scrolled = await scrollAll(page);
  console.log(`  all rows scrolled by: ${scrolled.rows} rows, heap ${MB(scrolled.heapBytes)}`);
  console.log(
    `  frames while scrolling: median ${scrolled.medianMs.toFixed(0)} ms, 95% ${scrolled.p95Ms.toFixed(0)} ms, longest ${scrolled.maxMs.toFixed(0)} ms`,
  );

  // Without the load's own calls, among which one row would be out of sight before it was drawn.
  await page.goto(`${platform.windowOrigin}/ui/invocations?q=${encodeURIComponent('-event:load')}`);
  await page.getByRole('grid', { name: 'Invocations' }).getByRole('row').nth(1).waitFor();
  const calm = await latencies(page, path);
  const load = startLoad(path);
  const busy = await latencies(page, path);
  const perSecond = await load.stop();
  const row = { what: 'answer of a call to its row on the screen', unit: 'ms' };
  console.log('');
  printLines([
    { ...row, what: `${row.what}, median at rest`, measured: median(calm) },
    { ...row, what: `${row.what}, 95 % at rest`, measured: p95(calm), goal: { atMost: 150 } },
    { ...row, what: `${row.what}, median at ${perSecond.toFixed(0)} calls/s`, measured: median(busy) },
    {
      ...row,
      what: `${row.what}, 95 % at ${perSecond.toFixed(0)} calls/s`,
      measured: p95(busy),
      goal: { atMost: 250 },
    },
  ]);
} finally {
  await browser.close();
  await platform.end('SIGTERM');
  await rm(folder, { recursive: true, force: true });
}

/** Gzipped size of the scripts that a page asks for. */
async function scriptsOf(page: Page, work: () => Promise<void>): Promise<number> {
  let bytes = 0;
  const reading: Promise<void>[] = [];
  page.on('response', (response) => {
    if (response.request().resourceType() !== 'script') return;
    const read = response.body().then((body) => {
      bytes += gzipSync(body).length;
    });
    reading.push(read);
  });
  await work();
  await Promise.all(reading);
  page.removeAllListeners('response');
  return bytes;
}

/** A lambda behind an endpoint without a limit; its path below the gateway. */
async function publish(page: Page): Promise<string> {
  const { body } = await platform.ask(page, 'GET', '/meta/demo/lambdas?expand=true');
  const lambda = (body as { id: string; name: string }[]).find(({ name }) => name === 'order-status');
  const patched = await platform.ask(page, 'PATCH', `/meta/demo/lambdas/${lambda?.id}`, [
    { op: 'replace', path: '/properties/code_type', value: 'inline' },
    { op: 'add', path: '/properties/code', value: CODE },
    { op: 'replace', path: '/properties/handler', value: 'run' },
  ]);
  if (patched.status !== 200) throw new Error(JSON.stringify(patched.body));
  const { body: endpoints } = await platform.ask(page, 'GET', '/meta/demo/apiendpoints?expand=true');
  const [api] = endpoints as { properties: { parent: { id: string } } }[];
  const made = await platform.ask(page, 'POST', `/meta/root/apis/${api?.properties.parent.id}/apiendpoints`, {
    name: 'bench',
    properties: { resource: '/bench', implementation_type: 'lambda', implementation_id: lambda?.id },
  });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  const { public_url: url } = (made.body as { properties: { public_url: string } }).properties;
  return new URL(url).pathname;
}

async function callMany(path: string, count: number): Promise<void> {
  let left = count;
  const caller = async () => {
    while (left-- > 0) await (await platform.call(path, { n: left })).arrayBuffer();
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

interface Visit {
  /** From navigation until a row was chosen and its detail is there. */
  interactiveMs: number;
  heapBytes: number;
}

async function visit(page: Page): Promise<Visit> {
  await page.goto('about:blank');
  const startedMs = performance.now();
  await page.goto(`${platform.windowOrigin}/ui/invocations`);
  await page.getByRole('grid', { name: 'Invocations' }).getByRole('row').nth(1).click();
  await page.getByRole('button', { name: 'Replay', exact: true }).waitFor();
  const interactiveMs = performance.now() - startedMs;
  await page.getByRole('button', { name: 'Close the detail' }).click();
  return { interactiveMs, heapBytes: await heapOf(page) };
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  await session.detach();
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
}

/** Scrolls to the oldest row, reading page after page, and watches the frames. */
async function scrollAll(page: Page) {
  const result = await page.evaluate<{ gaps: number[]; rows: number }>(SCROLL_ALL);
  const sorted = result.gaps.toSorted((a, b) => a - b);
  return {
    rows: result.rows,
    medianMs: median(sorted),
    p95Ms: p95(sorted),
    maxMs: sorted.at(-1) ?? 0,
    heapBytes: await heapOf(page),
  };
}

/** For each of some calls: milliseconds from its answer until its row is on the screen. */
async function latencies(page: Page, path: string): Promise<number[]> {
  await page.evaluate(WATCH_ROWS);
  const found: number[] = [];
  for (let n = 0; n < EVENTS; n++) {
    const answer = await platform.call(path, { event: n });
    const answeredMs = Date.now();
    const id = (answer.headers.get('x-terrarium-execution-id') ?? '').slice(0, 8);
    await answer.arrayBuffer();
    const seenMs = await page.waitForFunction(
      (wanted) => (globalThis as unknown as { seen: Map<string, number> }).seen.get(wanted), // put there above
      id,
      { polling: 'raf', timeout: 20_000 },
    );
    found.push(Math.max(0, Number(await seenMs.jsonValue()) - answeredMs));
    await pause(100 + Math.random() * 400);
  }
  return found;
}

/** Calls at a steady rate until it is stopped; resolves to how many there were a second. */
function startLoad(path: string): { stop(): Promise<number> } {
  const startedMs = performance.now();
  let count = 0;
  const pending = new Set<Promise<unknown>>();
  const timer = setInterval(() => {
    const due = ((performance.now() - startedMs) / 1000) * LOAD_PER_S;
    while (count < due) {
      count += 1;
      const call = platform.call(path, { load: count }).then((answer) => answer.arrayBuffer());
      pending.add(call);
      // A call that fails is one of the end of the platform, which has reasons of its own.
      call.catch(() => undefined).finally(() => pending.delete(call));
    }
  }, 10);
  return {
    async stop() {
      clearInterval(timer);
      const seconds = (performance.now() - startedMs) / 1000;
      await Promise.allSettled(pending);
      return count / seconds;
    },
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function p95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;
}

function described({ interactiveMs, heapBytes }: Visit): string {
  return `navigation to a row in detail ${interactiveMs.toFixed(0)} ms, heap ${MB(heapBytes)}`;
}

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(0)} kB`;
}

function MB(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
