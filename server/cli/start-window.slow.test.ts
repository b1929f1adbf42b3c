import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildCommand } from '../testing/command.ts';
import {
  type ElectronMirror,
  type MirrorBehavior,
  makeElectronPackage,
  startElectronMirror,
} from '../testing/electron-mirror.ts';
import { findElectron, windowContext } from './choose-window.ts';
import { type FetchOptions, fetchElectron, fetchInBackground } from './fetch-electron.ts';
import { runShell, SHELL_ARGUMENTS } from './run-shell.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-window-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Creates a program with this name that runs the script. */
async function program(name: string, script: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

/** The context of this machine with default window settings. */
const looked = (terminal: { env: Record<string, string>; isInteractive: boolean }) =>
  windowContext({ ...terminal, nodeVersion: '22.12.0' }, { isHeadless: undefined, window: 'auto' });

describe('a browser', () => {
  it('is found on the path; CI, SSH and the display are read from the environment', () => {
    const context = (env: Record<string, string>) => looked({ env, isInteractive: true });
    expect(context({ PATH: folder, CI: 'true' })).toMatchObject({ isCi: true, isSsh: false, isTerminal: true });
    expect(context({ CI: 'false', SSH_CONNECTION: '1 2 3 4' })).toMatchObject({ isCi: false, isSsh: true });
  });

  it.runIf(process.platform === 'linux')('is found by its command', async () => {
    const path = await program('google-chrome', ':');
    const opener = [await program('xdg-open', ':')];
    const env = { PATH: `/nowhere:${folder}`, WAYLAND_DISPLAY: 'wayland-0' };
    const found = looked({ env, isInteractive: false });
    expect(found).toMatchObject({ hasDisplay: true, chromium: { path, name: 'Chrome' }, opener });
  });
});

describe('the Electron shell', () => {
  beforeAll(buildCommand);

  it.runIf(process.platform === 'linux')(
    'runs in the Electron that is there, and nothing is downloaded for it',
    async () => {
      const electronIn = (env: Record<string, string>) => looked({ env, isInteractive: true }).electron;
      expect(electronIn({ ELECTRON_OVERRIDE_DIST_PATH: folder })).toEqual({
        missing: expect.stringContaining('not installed'),
      });
      const path = await program('electron', ':');
      expect(electronIn({ ELECTRON_OVERRIDE_DIST_PATH: folder })).toEqual({ path });
    },
  );

  const terminalOf = (isInteractive = false) => ({
    env: { PATH: process.env.PATH, ELECTRON_RUN_AS_NODE: '1' },
    folder,
    isInteractive,
    nowMs: () => performance.now(),
  });
  const never = new Promise<string>(() => {});

  it('gets the arguments in a variable, without ELECTRON_RUN_AS_NODE', async () => {
    const electron = await program(
      'electron',
      `printf '%s|%s|%s' "$1" "$${SHELL_ARGUMENTS}" "$ELECTRON_RUN_AS_NODE" > seen; exit 4`,
    );
    const end = await runShell(electron, '/shell/main.js', ['--data', 'a b'], terminalOf(), never);
    expect(end).toEqual({ exitCode: 4 });
    expect(await readFile(join(folder, 'seen'), 'utf8')).toBe('/shell/main.js|["--data","a b"]|');
  });

  it('ends when the command is stopped', async () => {
    const electron = await program('electron', `trap 'exit 0' TERM; touch up; while :; do sleep 0.05; done`);
    const stop = new EventEmitter();
    const stopSignal = once(stop, 'signal').then(([signal]) => String(signal));
    const end = runShell(electron, 'main.js', [], terminalOf(), stopSignal);
    await vi.waitFor(() => readFile(join(folder, 'up')), { timeout: 60_000 });
    stop.emit('signal', 'SIGTERM');
    expect(await end).toEqual({ exitCode: 0 });
  });

  it('is asked by a message to end on Windows, also after Ctrl+C, which does not reach it there', async () => {
    const node = JSON.stringify(process.execPath);
    const code = `process.on('message', (text) => process.exit(text === 'stop' ? 5 : 6)); require('fs').writeFileSync('up', '')`;
    const electron = await program('electron', `exec ${node} -e "${code}"`);
    const stop = new EventEmitter();
    const stopSignal = once(stop, 'signal').then(([signal]) => String(signal));
    const end = runShell(electron, 'main.js', [], terminalOf(true), stopSignal, 'win32');
    await vi.waitFor(() => readFile(join(folder, 'up')), { timeout: 60_000 });
    stop.emit('signal', 'SIGINT');
    expect(await end).toEqual({ exitCode: 5 });
  });

  it.each([
    ['a missing library', 'exit 127', /exit code 127/],
    ['a sandbox that fails', 'kill -TRAP $$', /SIGTRAP/],
  ])('that cannot start for %s is distinguished from one that ends', async (_why, script, reason) => {
    const electron = await program('electron', script);
    const end = await runShell(electron, 'main.js', [], terminalOf(), never);
    expect(end).toEqual({ failure: expect.stringMatching(reason) });
    expect(await runShell(join(folder, 'none'), 'main.js', [], terminalOf(), never)).toHaveProperty('failure');
  });
});

describe("Electron's binary, which is not installed yet", () => {
  let mirror: ElectronMirror;
  let into: string;

  beforeAll(async () => {
    mirror = await startElectronMirror(':');
  });
  afterAll(() => mirror.stop());
  beforeEach(async () => {
    mirror.behavior = 'well';
    into = await makeElectronPackage(folder);
  });

  const env = (): Record<string, string> => ({ PATH: process.env.PATH ?? '', ...mirror.env(folder) });
  const binary = (more: Record<string, string> = {}, nodeVersion = '22.12.0') =>
    findElectron({ env: more, nodeVersion }, into);
  const fetching = (more: Partial<FetchOptions> = {}) =>
    fetchElectron(into, { env: env(), signal: new AbortController().signal, ...more });
  /** Downloads like a start that has opened a browser; resolves to the printed lines. */
  const inBackground = async (isStopped = false) => {
    const lines: string[] = [];
    const browserWindow = { kind: 'browser', opener: [], line: '' } as const;
    const terminal = { env: env(), print: (line: string) => void lines.push(line) };
    const stop = fetchInBackground(browserWindow, { electron: binary(), window: 'auto' }, terminal);
    if (isStopped) await vi.waitUntil(() => lines.length > 0, { timeout: 60_000 });
    else await vi.waitUntil(() => /is downloaded|could not/.test(lines.at(-1) ?? ''), { timeout: 60_000 });
    await stop();
    return lines;
  };

  it('is downloaded in the background, and found by the next start', async () => {
    expect(binary()).toEqual({ missing: "Electron's binary is not installed yet", fetchInto: into });
    expect(await inBackground()).toEqual([
      expect.stringMatching(/^Downloading Electron \(about 100 MB\) in the background\. The next start/),
      'Electron is downloaded. The next start opens the window in it.',
    ]);
    expect(binary()).toEqual({ path: join(into, 'dist', 'electron') });
  });

  it('is not downloaded with --window browser, an old Node.js, or ELECTRON_SKIP_BINARY_DOWNLOAD', async () => {
    const { requestCount } = mirror;
    const stop = fetchInBackground(
      { kind: 'app', path: '', name: '', line: '' },
      { electron: binary(), window: 'browser' },
      { env: env(), print: () => expect.unreachable('nothing must be printed') },
    );
    await stop();
    expect(mirror.requestCount).toBe(requestCount);
    expect(binary({}, '20.19.0')).toEqual({
      missing:
        "Electron's binary is not installed, and its download requires Node.js 22.12.0 or later (this is 20.19.0)",
    });
    expect(binary({ ELECTRON_SKIP_BINARY_DOWNLOAD: '1' })).toEqual({ missing: expect.stringContaining('SKIP_BINARY') });
  });

  it.each<[string, MirrorBehavior, RegExp]>([
    ['has none', 'without', /404/],
    ['has another than it should', 'changed', /checksum|did not match/i],
    ['breaks off', 'cut', /terminated|closed|aborted/],
  ])('is not installed from a mirror that %s, in one line more at most', async (_why, behavior, reason) => {
    mirror.behavior = behavior;
    const lines = await inBackground();
    expect(lines.at(-1)).toMatch(/^Electron could not be downloaded \(.*\)\. The window stays in the browser\.$/);
    expect(lines.at(-1)).toMatch(reason);
    expect(lines.length).toBeLessThanOrEqual(2);
    expect(binary()).toHaveProperty('fetchInto');
  });

  it('cannot be downloaded without a network: one line', async () => {
    await expect(fetching({ env: { ...env(), ELECTRON_MIRROR: 'http://127.0.0.1:9/' } })).rejects.toThrow(
      /ECONNREFUSED|bad port/,
    );
  });

  it('is unpacked only if its checksum matches the package, unless remote checksums are set', async () => {
    const { electron_use_remote_checksums: _, ...plain } = env();
    await expect(fetching({ env: plain })).rejects.toThrow(/checksum|did not match/i);
    expect(binary()).toHaveProperty('fetchInto');
  });

  it('stops downloading after a timeout and when the platform stops, and leaves no files behind', async () => {
    mirror.behavior = 'slow';
    await expect(fetching({ limitMs: 1_000 })).rejects.toThrow('timeout after 1 s');
    expect(await inBackground(true)).toHaveLength(1);
    expect((await readdir(into)).sort()).toEqual(['checksums.json', 'index.js', 'install.js', 'package.json']);
    mirror.behavior = 'well';
    await fetching();
    expect(binary()).toHaveProperty('path');
  });

  it('is downloaded by one start at a time, and by the next one if that was killed', async () => {
    mirror.behavior = 'slow';
    const stop = new AbortController();
    const first = fetching({ signal: stop.signal });
    await vi.waitUntil(() => existsSync(join(into, '.terrarium-fetching')), { timeout: 60_000 });
    expect(await inBackground()).toEqual([
      expect.stringContaining(`(process ${process.pid} is already downloading it)`),
    ]);
    stop.abort();
    await expect(first).rejects.toThrow();
    await writeFile(join(into, '.terrarium-fetching'), '2147483646');
    mirror.behavior = 'well';
    await fetching();
    expect(binary()).toHaveProperty('path');
  });
});
