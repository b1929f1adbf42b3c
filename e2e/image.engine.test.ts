// The image of the repository's Dockerfile, on a local base image: this Node.js with its libraries, and busybox as shell.
import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageFile } from '../server/system/package-file.ts';
import { buildCommand } from '../server/testing/command.ts';
import { PipelineBench } from '../server/testing/pipeline-bench.ts';

const MAX_OWN_MB = 30;
const mark = `terrarium-image-${process.pid}`;
const run = promisify(execFile);
const docker = async (...args: string[]) =>
  (await run('docker', args, { env: { ...process.env, DOCKER_BUILDKIT: '0' } })).stdout.trim();

let folder: string;
let tarball: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium-image-'));
  await makeBase(join(folder, 'base'));
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], {
    cwd: packageFile('.'),
  });
  [tarball = ''] = /^terrarium-emulator-.*[.]tgz$/m.exec(stdout) ?? [];
  expect(tarball).not.toBe('');
  await copyFile(packageFile('Dockerfile'), join(folder, 'Dockerfile'));
  await docker('build', '--build-arg', `BASE=${mark}-base`, '--tag', mark, folder);
});

afterAll(async () => {
  await docker('rm', '--force', '--volumes', mark).catch(() => undefined);
  await docker('rmi', '--force', mark, `${mark}-base`).catch(() => undefined);
  await rm(folder, { recursive: true });
});

/** Creates an image with the programs of a Node.js image that are needed. */
async function makeBase(root: string): Promise<void> {
  const { stdout } = await run('ldd', [process.execPath]);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
  for (const path of libraries) {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await copyFile(await realpath(path), join(root, path));
  }
  for (const subfolder of ['bin', 'usr/bin', 'usr/local/bin', 'tmp'])
    await mkdir(join(root, subfolder), { recursive: true });
  await copyFile(process.execPath, join(root, 'usr/local/bin/node'));
  await copyFile('/bin/busybox', join(root, 'bin/busybox'));
  for (const name of ['sh', 'ln', 'mkdir', 'chown', 'mv', 'rm']) await symlink('busybox', join(root, 'bin', name));
  await symlink('/bin/busybox', join(root, 'usr/bin/env'));
  const npm = dirname(dirname(await realpath((await run('which', ['npm'])).stdout.trim())));
  await cp(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx'])
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name));
  const archive = join(folder, 'base.tar');
  await run('tar', ['--create', '--file', archive, '--directory', root, '.']);
  await docker('import', '--change', 'ENV PATH=/usr/local/bin:/usr/bin:/bin', archive, `${mark}-base`);
  await rm(archive);
}

describe('the image', () => {
  it('adds little to its base', async () => {
    const size = async (image: string) => Number(await docker('image', 'inspect', '--format', '{{.Size}}', image));
    const ownMb = ((await size(mark)) - (await size(`${mark}-base`))) / 1024 ** 2;
    console.log(`own layers: ${ownMb.toFixed(1)} MB`);
    expect(ownMb).toBeGreaterThan(1);
    expect(ownMb).toBeLessThan(MAX_OWN_MB);
  });

  it('requires a password for root, because it listens on more than loopback', async () => {
    const failure = await docker('run', '--rm', mark).catch((thrown) => thrown);
    expect(failure.stderr).toMatch(/Set a password with --root-password or TERRARIUM_ROOT_PASSWORD/);
    expect(failure.code).toBe(2);
  });

  it('runs without root, is healthy, responds, keeps its world, and stops on a signal', async () => {
    const settings = [
      '--env',
      'TERRARIUM_ROOT_PASSWORD=a-word-of-our-own',
      '--env',
      'TERRARIUM_ALLOWED_HOSTS=terrarium',
    ];
    await docker('run', '--detach', '--name', mark, '--publish', '127.0.0.1::4700', ...settings, mark);
    await until(async () => (await docker('inspect', '--format', '{{.State.Health.Status}}', mark)) === 'healthy');
    expect(await docker('exec', mark, 'node', '-p', 'process.getuid()')).toBe('1000');
    // It has a volume but no engine: users mount the socket if they trust the platform with the machine.
    expect(await docker('inspect', '--format', '{{range .Mounts}}{{.Type}} {{.Destination}}{{end}}', mark)).toBe(
      'volume /data',
    );
    const { checks } = JSON.parse(await docker('exec', mark, 'terrarium', 'doctor', '--json'));
    expect(checks).toContainEqual(expect.objectContaining({ name: 'Docker', ok: false }));
    const address = await docker('port', mark, '4700/tcp');
    const baseUrl = `http://${address}`;
    expect(await (await fetch(`${baseUrl}/meta/about`)).json()).toMatchObject({ status: 'healthy' });
    const form = new URLSearchParams({ grant_type: 'password', username: 'root', password: 'a-word-of-our-own' });
    expect((await fetch(`${baseUrl}/security/root/oauth/issue`, { method: 'POST', body: form })).status).toBe(200);
    expect(await docker('exec', mark, 'terrarium', 'invoke', 'order-status', '--json')).toContain('"executionId"');
    await docker('stop', '--time', '20', mark);
    expect(await docker('inspect', '--format', '{{.State.ExitCode}}', mark)).toBe('0');
    await docker('start', mark);
    await until(async () => (await docker('inspect', '--format', '{{.State.Health.Status}}', mark)) === 'healthy');
  });
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + 60_000; performance.now() < endMs; ) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`not so within a minute: ${await docker('logs', mark)}`);
}

describe('the examples of the documentation', () => {
  const example = (name: string) => readFile(packageFile(`docs/examples/${name}`), 'utf8');

  it('a workflow of GitHub Actions that its schema allows, which refuses another', async () => {
    const validator = packageFile('node_modules/@action-validator/cli/cli.mjs');
    const workflowFolder = join(folder, '.github', 'workflows');
    await mkdir(workflowFolder, { recursive: true });
    const file = join(workflowFolder, 'tests.yml');
    await writeFile(file, await example('github-actions.yml'));
    await run(process.execPath, [validator, file]);
    await writeFile(file, (await example('github-actions.yml')).replace('runs-on', 'runs-at'));
    await expect(run(process.execPath, [validator, file])).rejects.toThrow();
  });

  it('jobs of GitLab CI succeed, in the job and as a service by its alias', async () => {
    // The test of a project, with the platform of the job.
    const test = `const { TERRARIUM_BASE_URL: at, TERRARIUM_TOKEN, TERRARIUM_ROOT_PASSWORD: password } = process.env;
      const body = new URLSearchParams({ grant_type: 'password', username: 'root', password });
      const issued = async () => (await (await fetch(at + '/security/root/oauth/issue', { method: 'POST', body })).json()).access_token;
      const headers = { Authorization: 'Bearer ' + (TERRARIUM_TOKEN ?? await issued()) };
      console.log(at.replace(/\\d+$/, 'PORT'), (await fetch(at + '/meta/root/orgs', { headers })).status);`;
    await buildCommand();
    const harness = await PipelineBench.make(
      {},
      {
        '.gitlab-ci.yml': (await example('gitlab-ci.yml')).replaceAll('node:22-slim', `${mark}-base`),
        'package.json': JSON.stringify({ scripts: { test: 'node test.mjs' } }),
        'test.mjs': test,
        // Everything it needs is in the repository.
        '.npmrc': 'offline=true\naudit=false\nfund=false\nupdate-notifier=false\n',
      },
    );
    try {
      await copyFile(join(folder, tarball), join(harness.dir, tarball));
      await run('npm', ['install', '--offline', '--package-lock-only', '--save-dev', `./${tarball}`], {
        cwd: harness.dir,
      });
      await harness.commit({}, 'Test against a platform');
      await docker('tag', mark, `${mark}/terrarium`);
      const secrets = ['ROOT_PASSWORD=a-word-of-our-own', 'ROOT_API_SECRET=a-secret-of-our-own'];
      const variables = [`CI_REGISTRY_IMAGE=${mark}`, ...secrets];
      const { exitCode, out, err } = await harness.run(...variables.flatMap((variable) => ['--variable', variable]));
      expect(exitCode, `${out}${err}`).toBe(0);
      expect(out).toMatch(/in-the-job +> http:\/\/127\.0\.0\.1:PORT 200$/m);
      expect(out).toMatch(/as-a-service +> http:\/\/terrarium:PORT 200$/m);
    } finally {
      await harness.close();
      await docker('rmi', `${mark}/terrarium`).catch(() => undefined);
    }
  });

  it('a compose file whose service is this image', async () => {
    const { services, volumes } = parse(await example('compose.yaml'));
    expect(services.terrarium).toMatchObject({ image: 'terrarium', volumes: ['world:/data'] });
    expect(Object.keys(volumes)).toEqual(['world']);
  });
});
