import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { _electron, expect, test } from '@playwright/test';
import { findShellFile, windowContext } from '../server/cli/choose-window.ts';
import { SHELL_ARGUMENTS } from '../server/cli/run-shell.ts';

// The desktop shell in the real Electron, if its binary is installed. Everything that does not need Electron is tested in
// electron/*.test.ts.

const { electron, hasDisplay } = windowContext(
  { env: process.env, isInteractive: false, nodeVersion: process.versions.node },
  { isHeadless: undefined, window: 'auto' },
);
const skipReason = 'missing' in electron ? electron.missing : hasDisplay ? undefined : 'there is no display';
if (skipReason) console.log(`e2e/shell.spec.ts is skipped: ${skipReason}.`);

/** Chromium has no sandbox for root. */
const sandboxOptions = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

let folder: string;

test.beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-electron-'));
});
test.afterEach(() => rm(folder, { recursive: true, force: true }));

test('the shell opens the hardened window on its own platform, and quits without leaving anything', async () => {
  test.skip(skipReason !== undefined, skipReason);
  const platformArguments = [
    '--data',
    ':memory:',
    '--base-port',
    '0',
    '--gateway-port',
    '0',
    '--containers-engine',
    'none',
  ];
  const env = Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  const app = await _electron.launch({
    executablePath: 'path' in electron ? electron.path : '',
    args: [...sandboxOptions, `--user-data-dir=${join(folder, 'user')}`, findShellFile() ?? ''],
    cwd: folder,
    env: { ...Object.fromEntries(env), [SHELL_ARGUMENTS]: JSON.stringify(platformArguments) },
  });
  const window = await app.firstWindow();
  await window.waitForURL(/^http:\/\/terrarium\.localhost:\d+\/ui\//);
  await expect(window.getByRole('navigation').first()).toBeVisible();

  const inPage = await window.evaluate(() => ({
    hasNode: 'process' in globalThis || 'require' in globalThis,
    hasShell: 'terrarium' in globalThis,
  }));
  expect(inPage).toEqual({ hasNode: false, hasShell: false });

  const origin = new URL(window.url()).origin;
  await window.evaluate("location.href = 'http://127.0.0.1:1/'");
  await expect.poll(() => new URL(window.url()).origin).toBe(origin);

  const server = await app.evaluate(({ app: main }) =>
    main
      .getAppMetrics()
      .filter(({ name }) => name === 'Terrarium platform')
      .map(({ pid }) => pid),
  );
  expect(server).toHaveLength(1);
  await app.close();
  for (const pid of server) expect(() => process.kill(pid, 0)).toThrow();
});
