import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { packageFile } from '../server/system/package-file.ts';

it('where the shell cannot be verified, one line says so, and nothing is installed', async () => {
  expect(manifest.scripts['verify:shell']).toBe('node scripts/verify-shell.mjs');
  const env = { PATH: process.env.PATH };
  const failure = await promisify(execFile)(process.execPath, [packageFile('scripts/verify-shell.mjs')], { env }).catch(
    (thrown) => thrown,
  );
  expect(failure).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^verify:shell: .+\n$/) });
});
