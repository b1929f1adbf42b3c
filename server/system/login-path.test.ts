import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loginPath } from './login-path.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'terrarium-login-'));
});
afterEach(() => rm(home, { recursive: true }));

it('is what the start files of the shell make of it, whatever they print', async () => {
  await writeFile(join(home, '.bash_profile'), 'echo Welcome; export PATH="/opt/homebrew/bin:$PATH"; echo again\n');
  const path = await loginPath({ SHELL: '/bin/bash', HOME: home, PATH: '/usr/bin:/bin' });
  expect(path).toMatch(/^\/opt\/homebrew\/bin:[^\n]*$/);
});

it('is unknown if the shell does not exist, or fails', async () => {
  const failing = join(home, 'shell');
  await writeFile(failing, '#!/bin/sh\nexit 3\n');
  await chmod(failing, 0o755);
  expect(await loginPath({ SHELL: join(home, 'none') })).toBeUndefined();
  expect(await loginPath({ SHELL: failing })).toBeUndefined();
});
