import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { BUILD_TIMEOUT_MS, buildCommand } from '../server/testing/command.ts';
import { RETRY_URL } from './message-page.ts';
import type { RestartPolicy } from './restart-policy.ts';
import { clickItem } from './testing/desktop.ts';
import { Bench, pageText, START_TIMEOUT_MS } from './testing/shell.ts';

const QUICK: RestartPolicy = { firstDelayMs: 20, maxDelayMs: 20, maxCrashes: 5, windowMs: 60_000 };

let bench: Bench;

beforeAll(buildCommand, BUILD_TIMEOUT_MS);
beforeEach(async () => {
  bench = await Bench.make();
});
afterEach(() => bench.close(), START_TIMEOUT_MS);

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

it(
  'the server runs in a separate process, and its output reaches the terminal',
  async () => {
    await bench.start();
    const { baseUrl } = await bench.runs();
    expect(bench.shell.supervisor.pid).not.toBe(process.pid);
    expect((await fetch(`${baseUrl}/meta/about`)).status).toBeLessThan(500);
    expect(bench.printed.join('')).toContain(baseUrl);
  },
  START_TIMEOUT_MS,
);

it(
  'a crashed server is restarted, and the window returns to its page',
  async () => {
    await bench.start({ restartPolicy: QUICK });
    const { windowUrl } = await bench.runs();
    const { window } = bench.desktop;
    expect(window.loaded.at(-1)).toBe(windowUrl);
    window.webContents.url = new URL('/ui/leads?q=ada', windowUrl).href;
    await bench.crash();
    const again = await bench.runs();
    expect(bench.desktop.children).toHaveLength(2);
    expect(new URL(again.windowUrl).port).not.toBe(new URL(windowUrl).port);
    const messages = window.loaded.filter((url) => url.startsWith('data:')).map(pageText);
    expect(messages.some((text) => text.includes('is restarting'))).toBe(true);
    const { pathname, searchParams } = new URL(window.loaded.at(-1) ?? '');
    expect([pathname, searchParams.get('q')]).toEqual(['/ui/leads', 'ada']);
  },
  START_TIMEOUT_MS,
);

it(
  'a server that crashes repeatedly is not restarted; Retry starts it and resets the crash count',
  async () => {
    await bench.start({ restartPolicy: { ...QUICK, maxCrashes: 1 } });
    await bench.runs();
    await bench.crash();
    await bench.runs();
    await bench.crash();
    const { reason, output } = await bench.reaches('ended');
    expect(reason).toMatch(/crashed repeatedly/);
    expect(output.join('\n')).toContain('Terrarium is ready.');
    const { window } = bench.desktop;
    expect(pageText(window.loaded.at(-1) ?? '')).toContain('Terrarium is ready.');
    expect(window.webContents.follow(RETRY_URL)).toBe(false);
    await bench.runs();
    await bench.crash();
    await bench.runs();
  },
  START_TIMEOUT_MS,
);

it(
  'an error that the user must correct is shown without a restart',
  async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    await bench.start({ serverArguments: ['--data', ':memory:', '--base-port', port, '--seed', 'empty'] });
    const { reason, output } = await bench.reaches('ended');
    expect(reason).toBe('the platform could not start');
    expect(output.join('\n')).toContain(port);
    expect(pageText(bench.desktop.window.loaded.at(-1) ?? '')).toContain(port);
    expect(bench.desktop.children).toHaveLength(1);
    other.close();
  },
  START_TIMEOUT_MS,
);

it(
  'a server that another process stops is not restarted',
  async () => {
    await bench.start();
    await bench.runs();
    process.kill(bench.shell.supervisor.pid ?? 0, 'SIGTERM');
    expect((await bench.reaches('ended')).reason).toBe('the platform was stopped');
    expect(bench.desktop.children).toHaveLength(1);
  },
  START_TIMEOUT_MS,
);

it(
  'the menu restarts the server',
  async () => {
    await bench.start();
    await bench.runs();
    const { pid } = bench.shell.supervisor;
    clickItem(bench.desktop.menu, 'Restart Platform');
    await vi.waitFor(() => expect(bench.shell.supervisor.pid).not.toBe(pid), { timeout: START_TIMEOUT_MS });
    await bench.runs();
    const [first] = bench.desktop.children;
    expect([first?.exitCode, first?.signalCode]).toEqual([0, null]);
  },
  START_TIMEOUT_MS,
);

it(
  'quitting lets the server shut down, and leaves no process behind',
  async () => {
    await bench.start();
    await bench.runs();
    const pid = bench.shell.supervisor.pid ?? 0;
    clickItem(bench.desktop.menu, 'Quit');
    await once(bench.desktop.app, 'quit');
    expect(isAlive(pid)).toBe(false);
    expect([bench.desktop.children[0]?.exitCode, bench.desktop.children[0]?.signalCode]).toEqual([0, null]);
    expect(bench.printed.join('')).toContain('stopping ...');
    expect(bench.desktop.trays[0]?.isGone).toBe(true);
  },
  START_TIMEOUT_MS,
);

it(
  'quitting during a restart starts no new server',
  async () => {
    await bench.start();
    await bench.runs();
    clickItem(bench.desktop.menu, 'Restart Platform');
    bench.desktop.app.quit();
    await once(bench.desktop.app, 'quit');
    expect(bench.desktop.children.map(({ exitCode }) => exitCode)).toEqual([0]);
  },
  START_TIMEOUT_MS,
);

it(
  'quitting before the server is ready ends it',
  async () => {
    await bench.start();
    bench.desktop.app.quit();
    await once(bench.desktop.app, 'quit');
    expect(bench.desktop.children.map(({ pid }) => isAlive(pid ?? 0))).toEqual([false]);
  },
  START_TIMEOUT_MS,
);
