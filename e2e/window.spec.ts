import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, type Page, test } from '@playwright/test';

const CLI = fileURLToPath(new URL('../dist/server/cli.js', import.meta.url));
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const READY_LIMIT_MS = 30_000;
const SCREENS = [
  '',
  'resources',
  'lambdas',
  'invocations',
  'gateway',
  'containers',
  'leads',
  'pipelines',
  'history',
  'settings',
];

let folder: string;
let server: ChildProcess;
let ready: { baseUrl: string; gatewayUrl: string; windowUrl: string };

/** The real command with a demo world in memory, as a person starts it. */
async function startServer(): Promise<void> {
  const file = join(folder, 'ready.json');
  const ports = ['--base-port', '0', '--gateway-port', '0', '--data', ':memory:', '--containers-engine', 'none'];
  server = spawn(process.execPath, [CLI, 'start', '--headless', '--ready-file', file, ...ports], { stdio: 'ignore' });
  for (const untilMs = Date.now() + READY_LIMIT_MS; Date.now() < untilMs; await pause(50)) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    ready = JSON.parse(text);
    return;
  }
  throw new Error('the platform did not start');
}

test.beforeEach(async ({ page }) => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-window-'));
  await startServer();
  // Nothing on any page may come from elsewhere.
  page.on('request', (request) => {
    expect(new URL(request.url()).origin, request.url()).toBe(ready.baseUrl);
  });
  page.on('pageerror', (failure) => {
    throw failure;
  });
});
test.afterEach(async () => {
  server.kill('SIGTERM');
  await new Promise((resolve) => server.once('exit', resolve));
  await rm(folder, { recursive: true, force: true });
});

const signIn = async (page: Page) => {
  await page.goto(ready.windowUrl);
  await expect(page.getByRole('heading', { name: 'Home' })).toBeVisible();
};

test('the printed address signs in, once, and the code leaves the address', async ({ page, browser }) => {
  await signIn(page);
  expect(page.url()).not.toContain('code=');
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });

  const stranger = await browser.newPage();
  await stranger.goto(ready.windowUrl);
  await expect(stranger.getByText(/used already|too old/)).toBeVisible();
  await stranger.getByLabel(/user/i).fill('root');
  await stranger.getByLabel(/password/i).fill('terrarium');
  await stranger.getByRole('button', { name: /sign in/i }).click();
  await expect(stranger.getByRole('heading', { name: 'Home' })).toBeVisible();
  await stranger.close();
});

test('the web form that Home sends ends as a lead', async ({ page }) => {
  await signIn(page);
  await page.getByRole('button', { name: 'Send the form' }).click();
  await page.getByRole('link', { name: 'Open the inbox' }).click();
  await expect(page.getByText('Ada Lovelace').or(page.getByText('Lovelace')).first()).toBeVisible();
});

test('a call of a lambda shows up while one looks on', async ({ page }) => {
  await signIn(page);
  await page.goto(`${ready.baseUrl}/ui/invocations`);
  await expect(page.getByText('Nothing has run yet')).toBeVisible();
  const answer = await fetch(`${ready.gatewayUrl}/website/orders/1001`);
  expect(answer.status).toBe(200);
  await expect(page.getByText('order-status').first()).toBeVisible();
});

test('nobody changes anything without a session, or from elsewhere with one', async ({ page }) => {
  await signIn(page);
  const { baseUrl } = ready;
  expect((await fetch(`${baseUrl}/meta/root`, { method: 'POST', body: '{}' })).status).toBe(401);
  const [cookie] = await page.context().cookies();
  const forged = await fetch(`${baseUrl}/meta/root`, {
    method: 'POST',
    body: JSON.stringify({ name: 'evil' }),
    headers: {
      Cookie: `${cookie?.name}=${cookie?.value}`,
      'Content-Type': 'application/json',
      Origin: 'https://evil.example',
    },
  });
  expect(forged.status).toBe(403);
});

for (const theme of ['light', 'dark'] as const) {
  test(`every screen is free of what axe finds, ${theme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: theme });
    await signIn(page);
    const source = await readFile(AXE, 'utf8');
    for (const screen of SCREENS) {
      await page.goto(`${ready.baseUrl}/ui/${screen}`);
      await expect(page.getByRole('main').getByRole('heading').first()).toBeVisible();
      await page.evaluate(source);
      const found = await page.evaluate(async () => {
        const { violations } = await (
          globalThis as unknown as {
            axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
          }
        ).axe.run(); // axe puts itself there
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
      });
      expect(found, `/ui/${screen}`).toEqual([]);
    }
  });
}

test('the window says so when the platform is away', async ({ page }) => {
  await signIn(page);
  await page.goto(`${ready.baseUrl}/ui/resources`);
  await expect(page.getByRole('main')).toBeVisible();
  server.kill('SIGKILL');
  await new Promise((resolve) => server.once('exit', resolve));
  await expect(page.getByText(/does not answer|disconnected|lost/i).first()).toBeVisible({ timeout: 20_000 });
  await startServer(); // for the end of the test
});
