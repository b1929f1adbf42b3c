import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { failureOf, resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

let real: string;
let link: string;
let service: TestLambdaService;
beforeEach(async () => {
  real = await mkdtemp(path.join(tmpdir(), 't-'));
  link = `${real}l`;
  await symlink(real, link);
  vi.stubEnv('TMPDIR', link);
  service = await TestLambdaService.start({ scratchDir: path.join(link, 'data', 'lambdas') });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await service.stop();
  await rm(real, { recursive: true });
  await rm(link);
});

const WHERE = `exports.run = () => {
  const { realpathSync } = require('fs');
  const folders = [__filename, process.cwd(), process.env.HOME, process.env.TMPDIR];
  throw new Error([...folders, ...folders.map((one) => realpathSync(one))].join(' '));
}`;

/** As on macOS, where `/var` leads to `/private/var`. */
describe('where the folder for temporary files and the data folder are behind a link', () => {
  it('messages of lambdas name no folder of this machine', async () => {
    expect(failureOf(await service.run(WHERE))).toBe('error: ./index.js ~ ~ $TMPDIR ./index.js ~ ~ $TMPDIR');
  });

  it('messages of a package on this machine neither', async () => {
    await mkdir(path.join(real, 'package'));
    await writeFile(path.join(real, 'package', 'index.js'), WHERE);
    const package_url = pathToFileURL(path.join(link, 'package')).href;
    const failure = failureOf(await service.run('', { code_type: 'package', package_url, handler: 'index.run' }));
    expect(failure).toBe('error: ./index.js . ~ $TMPDIR ./index.js . ~ $TMPDIR');
  });

  it('a debugger finds the file by the path under which it is loaded', async () => {
    const lambda = service.lambda('exports.run = () => __filename');
    service.lambdas.debug(lambda);
    const loaded = resultOf(await service.invoke(lambda));
    expect(service.lambdas.debugState(lambda)?.file).toBe(loaded);
  });
});
