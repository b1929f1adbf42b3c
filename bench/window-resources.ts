// What the resources screen costs in the demo world and in one of 100,000 resources, 20,000 of them in one place: until the tree is there,
// until a filter has been answered, memory, and frames while one scrolls. Takes Chromium (see playwright.config.ts) and a build.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Locator, type Page } from '@playwright/test';
import { untilStill } from '../e2e/axe.ts';
import { growWorld } from '../e2e/large-world.ts';
import { PlatformProcess } from '../e2e/platform-process.ts';
import settings from '../playwright.config.ts';

const SIZE = Number(process.argv[2] ?? 100_000);
const CROWD = SIZE / 5;
const ROUNDS = 5;
const WAIT_MS = 60_000;

// What runs in the page is text: the types of browsers are not those of this program.
const SCROLL = `(async (scroller) => {
  const gaps = [];
  let last = performance.now();
  for (let frame = 0; frame < 300; frame += 1) {
    scroller.scrollBy(0, 400);
    await new Promise(requestAnimationFrame);
    gaps.push(performance.now() - last);
    last = performance.now();
  }
  return gaps;
})`;

const folder = await mkdtemp(join(tmpdir(), 'terrarium-bench-resources-'));
const platform = new PlatformProcess(folder, ['--containers-engine', 'none']);
const browser = await chromium.launch(settings.use?.launchOptions ?? {});
try {
  await platform.start();
  console.log('demo world');
  const small = await measure(await signedIn(), 'contact-form');
  print(small);

  await platform.end('SIGTERM');
  await growWorld(join(folder, 'data'), SIZE, CROWD);
  const startedMs = performance.now();
  await platform.start();
  const startMs = performance.now() - startedMs;
  console.log(`\n${SIZE.toLocaleString('en')} resources (read in ${(startMs / 1000).toFixed(1)} s)`);
  const page = await signedIn();
  const large = await measure(page, 'lambda-19');
  print(large, small);
  const { id } = await crowded(page);
  await page.goto(`${platform.windowOrigin}/ui/resources/${id}`);
  const table = page.getByRole('grid', { name: 'Inside' });
  await table.getByRole('row').nth(5).waitFor({ timeout: WAIT_MS });
  console.log(`  one place with ${CROWD.toLocaleString('en')} inside`);
  printFrames('table', await framesOf(table.locator('xpath=..')));
  printFrames('tree', await framesOf(page.getByRole('tree').locator('xpath=..')));
  console.log(`    heap ${await heapOf(page)}`);
  console.log(`    a change elsewhere to its line in the tree: ${(await untilSeen(page)).toFixed(0)} ms`);
} finally {
  await browser.close();
  await platform.end('SIGTERM');
  await rm(folder, { recursive: true, force: true });
}

async function signedIn(): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1360, height: 850 } })).newPage();
  await platform.open(page);
  return page;
}

interface Cost {
  openMs: number;
  filterMs: number;
  heap: string;
}

/** From navigation to the lines of the tree, and from the last letter of a filter to its lines. */
async function measure(page: Page, wanted: string): Promise<Cost> {
  const lines = page.getByRole('tree').getByRole('treeitem');
  const [opens, filters]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    await page.goto('about:blank');
    const openedMs = performance.now();
    await page.goto(`${platform.windowOrigin}/ui/resources`);
    await lines.nth(2).waitFor({ timeout: WAIT_MS });
    await page.getByRole('region', { name: 'Resource', exact: true }).getByRole('tab').first().waitFor();
    opens.push(performance.now() - openedMs);
    await untilStill(page);
    const filteredMs = performance.now();
    await page.getByRole('searchbox', { name: 'Filter the tree' }).fill(wanted);
    await lines.filter({ hasText: wanted }).first().waitFor({ timeout: WAIT_MS });
    filters.push(performance.now() - filteredMs);
  }
  return { openMs: median(opens), filterMs: median(filters), heap: await heapOf(page) };
}

async function crowded(page: Page): Promise<{ id: string }> {
  const { body } = await platform.ask(page, 'GET', '/inspect/tree?q=crowded&word=environments');
  const [place] = (body as { rows: { id: string }[] }).rows; // as the API document says
  if (!place) throw new Error('there is no crowded place');
  return place;
}

/** Milliseconds from the answer of a creation until its line is in the tree. */
async function untilSeen(page: Page): Promise<number> {
  const name = `new-${Date.now()}`;
  await page.goto(`${platform.windowOrigin}/ui/resources`);
  await page.getByRole('tree').getByRole('treeitem').nth(2).waitFor({ timeout: WAIT_MS });
  const made = await platform.ask(page, 'POST', '/meta/root/workspaces', { name });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  const answeredMs = performance.now();
  await page
    .getByRole('status')
    .or(page.getByText(/in all/))
    .first()
    .waitFor();
  await page.getByRole('searchbox', { name: 'Filter the tree' }).fill(name);
  await page.getByRole('tree').getByText(name).waitFor({ timeout: WAIT_MS });
  return performance.now() - answeredMs;
}

function framesOf(scroller: Locator): Promise<number[]> {
  return scroller.evaluate(
    (element, script) => new Function(`return ${script}`)()(element) as Promise<number[]>,
    SCROLL,
  );
}

async function heapOf(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  await session.detach();
  return `${((metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 1e6).toFixed(1)} MB`;
}

function print({ openMs, filterMs, heap }: Cost, other?: Cost): void {
  const times = (now: number, before: number | undefined) =>
    before === undefined ? '' : `, ${(now / before).toFixed(2)}x`;
  console.log(`  navigation to tree and detail: ${openMs.toFixed(0)} ms${times(openMs, other?.openMs)}`);
  console.log(`  filter to its lines: ${filterMs.toFixed(0)} ms${times(filterMs, other?.filterMs)}`);
  console.log(`  heap ${heap}`);
}

function printFrames(what: string, gaps: readonly number[]): void {
  const sorted = gaps.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0);
  console.log(`    frames while scrolling the ${what}: median ${at(0.5)} ms, 95% ${at(0.95)} ms, longest ${at(1)} ms`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
