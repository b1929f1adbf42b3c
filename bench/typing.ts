// What a letter costs in the form of a resource: processor time of the page's thread for each, in a field of the record itself and in
// one inside of a property. Takes Chromium (see playwright.config.ts) and a build; to be run in turns with another build.
//
//   node bench/run.mjs typing [LETTERS]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CDPSession, chromium, type Locator } from '@playwright/test';
import { untilStill } from '../e2e/axe.ts';
import { PlatformProcess } from '../e2e/platform-process.ts';
import settings from '../playwright.config.ts';

const LETTERS = Number(process.argv[2] ?? 100);
const ROUNDS = 5;

const folder = await mkdtemp(join(tmpdir(), 'terrarium-bench-typing-'));
const platform = new PlatformProcess(folder, ['--containers-engine', 'none']);
const browser = await chromium.launch(settings.use?.launchOptions ?? {});
try {
  await platform.start();
  const page = await browser.newPage({ viewport: { width: 1360, height: 850 } });
  await platform.open(page);
  const found = await platform.ask(page, 'GET', '/inspect/tree?q=contact-form&word=lambdas');
  const [lambda] = (found.body as { rows: { id: string }[] }).rows; // as the API document says
  await page.goto(`${platform.windowOrigin}/ui/resources/${lambda?.id}`);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  for (const name of ['description', 'env: value of CRM_OID']) {
    const field = page.getByRole('textbox', { name, exact: true });
    await field.focus();
    await untilStill(page);
    const costs: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) costs.push(await costOf(session, field));
    const median = costs.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
    console.log(`a letter in "${name}": ${median.toFixed(2)} ms of processor time`);
  }
} finally {
  await browser.close();
  await platform.end('SIGTERM');
  await rm(folder, { recursive: true, force: true });
}

/** Milliseconds that the page's thread was busy for each letter. */
async function costOf(session: CDPSession, field: Locator): Promise<number> {
  const before = await busyMs(session);
  await field.pressSequentially('x'.repeat(LETTERS));
  return ((await busyMs(session)) - before) / LETTERS;
}

async function busyMs(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
}
