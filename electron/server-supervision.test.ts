import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { BUILD_TIMEOUT_MS, buildCommand } from '../server/cli/command-for-tests.ts';
import { clickItem } from './electron-for-tests.ts';
import { RETRY_URL } from './message-page.ts';
import type { RestartPolicy } from './restart-policy.ts';
import { Bench, pageText, START_TIMEOUT_MS } from './shell-for-tests.ts';

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
  'the server runs in a process of its own, and its words reach the terminal',
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
  'a server that crashes is started again, and the window goes back to where it was',
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
    expect(messages.some((text) => text.includes('starts again'))).toBe(true);
    const { pathname, searchParams } = new URL(window.loaded.at(-1) ?? '');
    expect([pathname, searchParams.get('q')]).toEqual(['/ui/leads', 'ada']);
  },
  START_TIMEOUT_MS,
);

it(
  'a server that crashes again and again is left alone; Retry starts it with a clean slate',
  async () => {
    await bench.start({ restartPolicy: { ...QUICK, maxCrashes: 1 } });
    await bench.runs();
    await bench.crash();
    await bench.runs();
    await bench.crash();
    const { reason, output } = await bench.reaches('ended');
    expect(reason).toMatch(/again and again/);
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
  'what has to be put right first is shown, not tried again and again',
  async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    await bench.start({ serverArguments: ['--data', ':memory:', '--base-port', port, '--seed', 'empty'] });
    const { reason, output } = await bench.reaches('ended');
    expect(reason).toBe('it could not start');
    expect(output.join('\n')).toContain(port);
    expect(pageText(bench.desktop.window.loaded.at(-1) ?? '')).toContain(port);
    expect(bench.desktop.children).toHaveLength(1);
    other.close();
  },
  START_TIMEOUT_MS,
);

it(
  'a server that is told to stop from outside stays stopped',
  async () => {
    await bench.start();
    await bench.runs();
    process.kill(bench.shell.supervisor.pid ?? 0, 'SIGTERM');
    expect((await bench.reaches('ended')).reason).toBe('it was told to stop');
    expect(bench.desktop.children).toHaveLength(1);
  },
  START_TIMEOUT_MS,
);

it(
  'a restart is asked for in the menu',
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
  'quitting lets the server end its work, and leaves no process behind',
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
  'quitting while the server is restarted starts no other',
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
  'quitting before the server is ready ends it all the same',
  async () => {
    await bench.start();
    bench.desktop.app.quit();
    await once(bench.desktop.app, 'quit');
    expect(bench.desktop.children.map(({ pid }) => isAlive(pid ?? 0))).toEqual([false]);
  },
  START_TIMEOUT_MS,
);
