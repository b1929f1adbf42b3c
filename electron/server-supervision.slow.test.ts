import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { buildCommand } from '../server/testing/command.ts';
import { RETRY_URL } from './message-page.ts';
import { clickItem } from './testing/desktop.ts';
import { pageText, ShellHarness, START_TIMEOUT_MS } from './testing/shell.ts';

const QUICK = [20, 20, 20, 20, 20];

let harness: ShellHarness;

beforeAll(buildCommand);
beforeEach(async () => {
  harness = await ShellHarness.make();
});
afterEach(() => harness.close());

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it('the server runs in a separate process, and its output reaches the terminal', async () => {
  await harness.start();
  const { baseUrl } = await harness.runs();
  expect(harness.shell.supervisor.pid).not.toBe(process.pid);
  expect((await fetch(`${baseUrl}/meta/about`)).status).toBeLessThan(500);
  expect(harness.printed.join('')).toContain(baseUrl);
});

it('a crashed server is restarted, and the window returns to its page', async () => {
  await harness.start({ restartDelaysMs: QUICK });
  const { windowUrl } = await harness.runs();
  const { window } = harness.desktop;
  expect(window.loaded.at(-1)).toBe(windowUrl);
  window.webContents.url = new URL('/ui/leads?q=ada', windowUrl).href;
  await harness.crash();
  const again = await harness.runs();
  expect(harness.desktop.children).toHaveLength(2);
  expect(new URL(again.windowUrl).port).not.toBe(new URL(windowUrl).port);
  const messages = window.loaded.filter((url) => url.startsWith('data:')).map(pageText);
  expect(messages.some((text) => text.includes('is restarting'))).toBe(true);
  const { pathname, searchParams } = new URL(window.loaded.at(-1) ?? '');
  expect([pathname, searchParams.get('q')]).toEqual(['/ui/leads', 'ada']);
});

it('a server that crashes repeatedly is not restarted; Retry starts it and resets the crash count', async () => {
  await harness.start({ restartDelaysMs: [20] });
  await harness.runs();
  await harness.crash();
  await harness.runs();
  await harness.crash();
  const { reason, output } = await harness.reaches('ended');
  expect(reason).toMatch(/crashed repeatedly/);
  expect(output.join('\n')).toContain('Terrarium is ready.');
  const { window } = harness.desktop;
  expect(pageText(window.loaded.at(-1) ?? '')).toContain('Terrarium is ready.');
  expect(window.webContents.follow(RETRY_URL)).toBe(false);
  await harness.runs();
  await harness.crash();
  await harness.runs();
});

it('an error that the user must correct is shown without a restart', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' ? String(address?.port) : '';
  await harness.start({ serverArguments: ['--data', ':memory:', '--base-port', port, '--seed', 'empty'] });
  const { reason, output } = await harness.reaches('ended');
  expect(reason).toBe('the platform could not start');
  expect(output.join('\n')).toContain(port);
  expect(pageText(harness.desktop.window.loaded.at(-1) ?? '')).toContain(port);
  expect(harness.desktop.children).toHaveLength(1);
  other.close();
});

it('a server that another process stops is not restarted', async () => {
  await harness.start();
  await harness.runs();
  process.kill(harness.shell.supervisor.pid ?? 0, 'SIGTERM');
  expect((await harness.reaches('ended')).reason).toBe('the platform was stopped');
  expect(harness.desktop.children).toHaveLength(1);
});

it('the menu restarts the server', async () => {
  await harness.start();
  await harness.runs();
  const { pid } = harness.shell.supervisor;
  clickItem(harness.desktop.menu, 'Restart Platform');
  await vi.waitFor(() => expect(harness.shell.supervisor.pid).not.toBe(pid), { timeout: START_TIMEOUT_MS });
  await harness.runs();
  const [first] = harness.desktop.children;
  expect([first?.exitCode, first?.signalCode]).toEqual([0, null]);
});

it('quitting lets the server shut down, and leaves no process behind', async () => {
  await harness.start();
  await harness.runs();
  const pid = harness.shell.supervisor.pid ?? 0;
  clickItem(harness.desktop.menu, 'Quit');
  await once(harness.desktop.app, 'quit');
  expect(isAlive(pid)).toBe(false);
  expect([harness.desktop.children[0]?.exitCode, harness.desktop.children[0]?.signalCode]).toEqual([0, null]);
  expect(harness.printed.join('')).toContain('stopping ...');
  expect(harness.desktop.trays[0]?.isGone).toBe(true);
});

it('quitting during a restart starts no new server', async () => {
  await harness.start();
  await harness.runs();
  clickItem(harness.desktop.menu, 'Restart Platform');
  harness.desktop.app.quit();
  await once(harness.desktop.app, 'quit');
  expect(harness.desktop.children.map(({ exitCode }) => exitCode)).toEqual([0]);
});

it('quitting before the server is ready ends it', async () => {
  await harness.start();
  harness.desktop.app.quit();
  await once(harness.desktop.app, 'quit');
  expect(harness.desktop.children.map(({ pid }) => isAlive(pid ?? 0))).toEqual([false]);
});
