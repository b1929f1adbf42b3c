import { EventEmitter, once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { BUILD_TIMEOUT_MS, buildCommand } from './command-for-tests.ts';
import { openWindow } from './open-window.ts';
import { runShell, SHELL_ARGUMENTS } from './run-shell.ts';
import { windowSurroundings } from './window-surroundings.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-window-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** A program of that name that runs the script. */
async function program(name: string, script: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

describe('a browser', () => {
  const line = '';

  it('gets the address as an application, unharmed by any shell', async () => {
    const path = await program(
      'chromium',
      `printf '%s' "$1" > '${folder}/seen.part' && mv '${folder}/seen.part' '${folder}/seen'; sleep 2`,
    );
    const url = 'http://127.0.0.1:4700/ui/?code=a$(touch x)&b=c d';
    expect(await openWindow({ kind: 'app', path, name: 'Chromium', line }, url)).toBeUndefined();
    expect(await vi.waitFor(() => readFile(join(folder, 'seen'), 'utf8'))).toBe(`--app=${url}`);
  });

  it('that is not there, or cannot run, says so', async () => {
    expect(await openWindow({ kind: 'browser', opener: [join(folder, 'none')], line }, 'http://x/')).toMatch(/ENOENT/);
    const opener = [await program('xdg-open', 'exit 3')];
    expect(await openWindow({ kind: 'browser', opener, line }, 'http://x/')).toBe('it ended with exit code 3');
  });

  it('is found on the path; CI, SSH and the display are read from the environment', () => {
    const surroundings = (env: Record<string, string>) => windowSurroundings({ env, isInteractive: true }, undefined);
    expect(surroundings({ PATH: folder, CI: 'true' })).toMatchObject({ isCi: true, isSsh: false, isTerminal: true });
    expect(surroundings({ CI: 'false', SSH_CONNECTION: '1 2 3 4' })).toMatchObject({ isCi: false, isSsh: true });
  });

  it.runIf(process.platform === 'linux')('is found by its command', async () => {
    const path = await program('google-chrome', ':');
    const opener = [await program('xdg-open', ':')];
    const env = { PATH: `/nowhere:${folder}`, WAYLAND_DISPLAY: 'wayland-0' };
    const found = windowSurroundings({ env, isInteractive: false }, undefined);
    expect(found).toMatchObject({ hasDisplay: true, chromium: { path, name: 'Chrome' }, opener });
  });
});

describe('the Electron shell', () => {
  beforeAll(buildCommand, BUILD_TIMEOUT_MS);

  it.runIf(process.platform === 'linux')(
    'runs in the Electron that is there, and nothing is downloaded for it',
    async () => {
      const electronIn = (env: Record<string, string>) =>
        windowSurroundings({ env, isInteractive: true }, undefined).electron;
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

  it('gets the arguments of the command aside, and no order to be Node', async () => {
    const electron = await program(
      'electron',
      `printf '%s|%s|%s' "$1" "$${SHELL_ARGUMENTS}" "$ELECTRON_RUN_AS_NODE" > seen; exit 4`,
    );
    const end = await runShell(electron, '/shell/main.js', ['--data', 'a b'], terminalOf(), never);
    expect(end).toEqual({ exitCode: 4 });
    expect(await readFile(join(folder, 'seen'), 'utf8')).toBe('/shell/main.js|["--data","a b"]|');
  });

  it('ends when the command is told to', async () => {
    const electron = await program('electron', `trap 'exit 0' TERM; touch up; while :; do sleep 0.05; done`);
    const stop = new EventEmitter();
    const stopSignal = once(stop, 'signal').then(([signal]) => String(signal));
    const end = runShell(electron, 'main.js', [], terminalOf(), stopSignal);
    await vi.waitFor(() => readFile(join(folder, 'up')));
    stop.emit('signal', 'SIGTERM');
    expect(await end).toEqual({ exitCode: 0 });
  });

  it.each([
    ['a missing library', 'exit 127', /exit code 127/],
    ['a sandbox that cannot be', 'kill -TRAP $$', /SIGTRAP/],
  ])('that cannot start for %s is told apart from one that ends', async (_why, script, reason) => {
    const electron = await program('electron', script);
    const end = await runShell(electron, 'main.js', [], terminalOf(), never);
    expect(end).toEqual({ failure: expect.stringMatching(reason) });
    expect(await runShell(join(folder, 'none'), 'main.js', [], terminalOf(), never)).toHaveProperty('failure');
  });
});
