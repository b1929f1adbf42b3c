import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { packageFile } from '../server/system/package-file.ts';
import { skipReasonFor } from './verify-shell.mjs';

const desktop = { env: { DISPLAY: ':0' }, platform: 'linux', nodeVersion: '22.12.0', uid: 1000 };

it.each([
  ['a desktop', {}, undefined],
  ['a Mac', { env: {}, platform: 'darwin', nodeVersion: '24.1.0' }, undefined],
  [
    'an old Node',
    { nodeVersion: '20.19.0' },
    /^Electron and its packer take Node 22\.12 or newer, and this is 20\.19\.0/,
  ],
  ['a Node that is a little old', { nodeVersion: '22.11.0' }, /Node 22\.12/],
  ['a machine without a display', { env: {} }, /^there is no display/],
  ['root', { uid: 0 }, /^root has no sandbox/],
])('the shell can be verified on %s, or why not', (_where, more, why) => {
  const skipReason = skipReasonFor({ ...desktop, ...more });
  if (why) expect(skipReason).toMatch(why);
  else expect(skipReason).toBeUndefined();
});

it('where it cannot be, one line says so, and nothing is installed', async () => {
  expect(manifest.scripts['verify:shell']).toBe('node scripts/verify-shell.mjs');
  const env = { PATH: process.env.PATH };
  const failure = await promisify(execFile)(process.execPath, [packageFile('scripts/verify-shell.mjs')], { env }).catch(
    (thrown) => thrown,
  );
  expect(failure).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^verify:shell: .+\n$/) });
});
