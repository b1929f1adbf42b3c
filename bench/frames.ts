// What opening a screen of the window costs the browser's main thread with many records and resources: the longest task, in processor time
// and by the clock, the longest frame, all processor time until the screen is at rest, and the elements of the page.
//
//   node bench/run.mjs frames
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type CDPSession, chromium, type Page } from '@playwright/test';
import { growWorld } from '../e2e/large-world.ts';
import { findChromium } from '../scripts/find-program.mjs';
import type { Line } from './speed/goals.ts';
import { type Benchmark, median, runBench } from './speed/harness.ts';
import type { Terrarium } from './speed/terrarium.ts';

const FORMS = 3_000;
const RESOURCES = 2_000;
const ROUNDS = 3;
const LIMIT_MS = 100;
/** A screen is at rest when the main thread has been busy for less than a twentieth of so long. */
const REST_MS = 1_000;
const SCREENS = { home: '', invocations: 'invocations', requests: 'gateway', leads: 'leads', history: 'history' };
const FIGURES = {
  'longest task, processor time': 'ms',
  'longest task': 'ms',
  'longest frame': 'ms',
  'processor time': 'ms',
  elements: '',
} as const;
type Figures = Record<keyof typeof FIGURES, number>;

/** Counts the milliseconds of the longest frame since it was last set to 0; frames below 50 ms are not reported. */
const OBSERVE_FRAMES = `globalThis.longestFrameMs = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longestFrameMs = Math.max(longestFrameMs, duration);
}).observe({ type: 'long-animation-frame', buffered: true })`;
/** Navigates with the router of the window. */
const navigation = (path: string) => `history.pushState(null, '', '/ui/${path}')`;

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Microseconds. */
  dur?: number;
  tdur?: number;
  args: { name?: string };
}

/** Submits the demo form until enough forms are recorded. */
async function submitForms(benchmark: Benchmark, platform: Terrarium): Promise<void> {
  const endpoints = await platform.ask<{ id: string; properties: { resource: string } }[]>(
    'GET',
    '/meta/demo/apiendpoints?expand=true',
  );
  const endpoint = endpoints.find(({ properties }) => properties.resource === '/lead');
  await platform.ask('PATCH', `/meta/root/apiendpoints/${endpoint?.id}`, [
    { op: 'remove', path: '/properties/plugins' },
  ]);
  const body = JSON.stringify({ payload: { firstName: 'Ada', lastName: 'No. {n}', email: 'ada{n}@example.com' } });
  const form = { method: 'POST', path: '/website/lead', headers: { 'Content-Type': 'application/json' }, body };
  const count = async () => (await platform.ask<{ leads: number }>('GET', '/inspect/forms?limit=1')).leads;
  while ((await count()) < FORMS) {
    const { refused } = await benchmark.load({
      port: platform.gatewayPort,
      ...form,
      connections: 4,
      durationMs: 1_000,
    });
    if (refused > 0) throw new Error(`${refused} of ${form.method} ${form.path} refused`);
  }
}

/** The longest task of the main thread of a page among the events of all processes. */
function longestTask(events: readonly TraceEvent[]): { ms: number; processorMs: number } {
  const mains = events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
  const isMain = ({ pid, tid }: TraceEvent) => mains.some((main) => main.pid === pid && main.tid === tid);
  const tasks = events.filter((event) => event.name.endsWith('RunTask') && isMain(event));
  const longest = (figure: 'dur' | 'tdur') => Math.max(0, ...tasks.map((task) => task[figure] ?? 0)) / 1_000;
  return { ms: longest('dur'), processorMs: longest('tdur') };
}

/** Processor time of the page's main thread so far. */
async function processorMsOf(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) * 1_000;
}

/** Resolves when the window has loaded and shown what the screen needs. */
async function rest(page: Page, session: CDPSession): Promise<void> {
  await page.getByRole('contentinfo').getByText('live').waitFor();
  for (let busyMs = REST_MS, beforeMs = 0; busyMs > REST_MS / 20; ) {
    await page.waitForTimeout(REST_MS);
    const processorMs = await processorMsOf(session);
    [busyMs, beforeMs] = [processorMs - beforeMs, processorMs];
  }
}

/** Opens a screen and measures until it rests. */
async function open(browser: Browser, page: Page, session: CDPSession, path: string): Promise<Figures> {
  const beforeMs = await processorMsOf(session);
  await page.evaluate('longestFrameMs = 0');
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  await page.evaluate(navigation(path));
  await rest(page, session);
  const trace: { traceEvents: TraceEvent[] } = JSON.parse((await browser.stopTracing()).toString());
  const task = longestTask(trace.traceEvents);
  return {
    'longest task, processor time': task.processorMs,
    'longest task': task.ms,
    'longest frame': await page.evaluate<number>('longestFrameMs'),
    'processor time': (await processorMsOf(session)) - beforeMs,
    elements: await page.evaluate<number>("document.querySelectorAll('*').length"),
  };
}

async function main(benchmark: Benchmark): Promise<Line[]> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('no Chromium: set CHROMIUM_PATH');
  const data = mkdtempSync(join(benchmark.folder, 'world-'));
  await (await benchmark.platform({ data, seed: 'demo' })).end();
  const { lambda } = await growWorld(data, RESOURCES);
  const platform = await benchmark.platform({ data });
  await submitForms(benchmark, platform);
  const screens: Record<string, string> = { ...SCREENS, resources: `resources/${lambda}` };
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  benchmark.atEnd(() => browser.close());
  const rounds: Record<string, Figures[]> = {};
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(OBSERVE_FRAMES);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto(platform.windowUrl);
  await rest(page, session);
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each round loads the window again, and opens each screen for the first time.
    await page.goto(`${new URL(platform.windowUrl).origin}/ui/settings`);
    await rest(page, session);
    for (const [screen, path] of Object.entries(screens))
      rounds[screen] = [...(rounds[screen] ?? []), await open(browser, page, session, path)];
  }
  return Object.entries(rounds).flatMap(([screen, figures]) =>
    Object.entries(FIGURES).map(([name, unit]): Line => {
      const measured = median(figures.map((each) => each[name as keyof Figures]));
      const hasGoal = name === 'longest task, processor time' || name === 'longest frame';
      return { label: `opening ${screen}, ${name}`, measured, unit, ...(hasGoal && { goal: { atMost: LIMIT_MS } }) };
    }),
  );
}

await runBench(main);
