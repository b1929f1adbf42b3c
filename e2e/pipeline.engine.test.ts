import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleBase } from '../server/runtimes/pipelines/sample-base.ts';
import { buildCommand, CliRunner } from '../server/testing/command.ts';
import { expectNoLeftovers, requireEngine, testImage } from '../server/testing/engine.ts';
import { readerSettings } from '../server/testing/pipeline-bench.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import type { Body } from '../server/testing/tenant.ts';

const LIMIT_MS = 120_000;
const SAMPLE = fileURLToPath(new URL('../fixtures/sample-app', import.meta.url));
const BRANCH = 'feature/Ferns_and_more';
const PROJECT = 'fern-moss/shop';

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'terrarium pipeline '));
const shop = join(folder, 'shop');
let platform: Platform;
let cli: CliRunner;
let docker: Awaited<ReturnType<typeof requireEngine>>;
const images: string[] = [];

const git = async (...args: string[]) => (await run('git', ['-C', shop, ...args])).stdout.trim();
const commit = async (title: string) => {
  await git('add', '-A');
  await git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '-q', '-m', title);
  const short = await git('rev-parse', '--short=8', 'HEAD');
  images.push(`shop:${short}`);
  return short;
};
const slug = 'feature-ferns-and-more';
const pipeline = (...more: string[]) => {
  const { baseUrl, rootCredentials } = platform.emulator;
  return cli.run(['pipeline', 'run', shop, '--branch', BRANCH, '--project', PROJECT, '--base-url', baseUrl, ...more], {
    env: {
      TERRARIUM_API_KEY: rootCredentials.apiKey,
      TERRARIUM_API_SECRET: rootCredentials.apiSecret ?? '',
      HOME: folder,
      ...readerSettings(shop),
    },
  });
};
const containers = async (): Promise<Body[]> => (await platform.root.get('/demo/containers?expand=true')).body;
const inspect = async (path: string): Promise<Body> => (await platform.root.send('GET', `/../inspect/${path}`)).body;

beforeAll(async () => {
  docker = await requireEngine();
  await testImage('busybox:1.36');
  await buildCommand();
  cli = new CliRunner();
  platform = await startPlatform({ seed: 'demo', containers: { engine: 'auto' } });
  await cp(SAMPLE, shop, { recursive: true });
  await run('git', ['init', '-q', '-b', BRANCH, shop]);
});
afterAll(async () => {
  const worldId = platform?.emulator.worldId;
  await platform?.stop();
  await cli?.close();
  for (const image of images)
    await docker
      .getImage(image)
      .remove({ force: true })
      .catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
  if (worldId) await expectNoLeftovers(worldId);
});

describe('a feature branch through its pipeline (CI deployment, steps 1 to 6)', () => {
  it('ends with the app behind a URL that is posted on the merge request', async () => {
    const short = await commit('Sell ferns');
    const { exitCode, out, err } = await pipeline();
    expect(`${out}${err}`).toContain('merge request !1');
    expect(exitCode, `${out}${err}`).toBe(0);

    const [container, ...otherContainers] = await containers();
    expect(otherContainers).toEqual([]);
    expect(container).toMatchObject({
      name: 'shop-feature-ferns-and-more',
      properties: {
        image: `shop:${short}`,
        labels: { GIT_REF: BRANCH, REVIEW_APP: 'true' },
        port_mappings: [{ name: 'web', container_port: 8080 }],
      },
    });
    const [, url = ''] = / is at (\S+)/.exec(out) ?? [];
    expect(url).toBe(`${platform.emulator.gatewayUrl}/website/shop-feature-ferns-and-more`);
    // The pipeline is green only when the app responds, so waiting is not needed.
    const page = async () => (await fetch(`${url}/`)).text();
    expect(await page()).toContain(`commit ${short}`);
    expect(out.trimEnd().split('\n').at(-1)).toBe(`the app of '${BRANCH}' is at ${url}`);
    expect(await page()).toContain('<h1>Fern &amp; Moss</h1>');

    // The view of a reviewer, through a client for the real GitLab API.
    const { apiUrl, token, projects } = await inspect('scm');
    const gitlab = new Gitlab({ host: apiUrl.replace(/\/api\/v4.*$/, ''), token });
    const [mergeRequest] = await gitlab.MergeRequests.all({ projectId: PROJECT, sourceBranch: BRANCH });
    expect(mergeRequest).toMatchObject({ iid: 1, title: 'Sell ferns', state: 'opened' });
    const notes = await gitlab.MergeRequestNotes.all(PROJECT, 1);
    const deployment = `runs shop:${short} with 1 instance, ${url} responded with 200`;
    expect(notes.map(({ body }) => body).sort()).toEqual([
      `Deployed ${BRANCH} to ${url}`,
      expect.stringContaining(deployment),
    ]);
    const environments = await gitlab.Environments.all(PROJECT);
    expect(environments).toMatchObject([{ name: `review/${slug}`, external_url: url }]);
    expect(projects).toMatchObject([{ path_with_namespace: PROJECT, merge_requests: [{ notes: [{}, {}] }] }]);

    const [recorded] = await inspect('pipelines');
    expect(recorded).toMatchObject({
      state: 'success',
      exitCode: 0,
      branch: BRANCH,
      appUrl: url,
      jobs: [
        { name: 'build', stage: 'build', state: 'success', exitCode: 0 },
        { name: 'deploy', stage: 'deploy', state: 'success', exitCode: 0 },
        { name: 'stop', stage: 'stop', state: 'manual' },
      ],
      variables: { missing: [], present: expect.arrayContaining(['PLATFORM_API_SECRET']) },
    });
    const { log } = await inspect(`pipelines/${recorded.id}`);
    expect(log.join('\n')).toContain('"action":"deploy"');
    // Nothing is left in the repository.
    expect(await git('status', '--short')).toBe('');
  });

  it('a second push updates the same container, a stop takes it away', async () => {
    const [before] = await containers();
    await writeFile(join(shop, 'NEWS'), 'mosses, too\n');
    const short = await commit('Sell mosses');
    // Without the base image and a registry, an image with programs of this machine is used.
    const messages: string[] = [];
    const context = {
      env: process.env,
      containerEngine: 'auto',
      signal: AbortSignal.timeout(LIMIT_MS),
      reportLine: (line: string) => messages.push(line),
    };
    const { BASE = '' } = await sampleBase(context, 'no-such.invalid/busybox:1.36');
    expect(messages.at(-1)).toMatch(
      /^image 'no-such\.invalid\/busybox:1\.36' cannot be pulled: .*\. The image is built from terrarium/,
    );
    expect(await sampleBase(context)).toEqual({});
    expect((await pipeline('--variable', `BASE=${BASE}`)).exitCode).toBe(0);
    const [after, ...otherContainers] = await containers();
    expect(otherContainers).toEqual([]);
    expect(after).toMatchObject({ id: before.id, properties: { image: `shop:${short}` } });
    const url = `${platform.emulator.gatewayUrl}/website/${after.name}/`;
    expect(await (await fetch(url)).text()).toContain(`commit ${short}`);

    const stopped = await pipeline('--job', 'stop');
    expect(stopped.exitCode, stopped.err).toBe(0);
    expect(stopped.out).not.toContain(' is at ');
    expect(await containers()).toEqual([]);
    expect((await fetch(url)).status).toBe(404);
    const [{ environments }] = (await inspect('scm')).projects;
    expect(environments).toMatchObject([{ name: `review/${slug}`, state: 'stopped' }]);
    expect((await inspect('pipelines'))[0].appUrl).toBeUndefined();
  });
});

describe('green means that the app answers', () => {
  const deploy = (...more: string[]) => pipeline('--job', 'deploy', ...more);

  it('an image that does not exist fails the run with the reason', async () => {
    const { exitCode, out, err } = await deploy('--variable', 'IMAGE=no-such.invalid/shop:1');
    expect(exitCode).toBe(1);
    expect(out).toMatch(/is not available: its container is FAILED: image 'no-such\.invalid\/shop:1' cannot be pulled/);
    expect(out).not.toContain(' is at ');
    expect(err).toContain('failed');
    expect((await inspect('pipelines'))[0]).toMatchObject({ state: 'failed', jobs: [{ state: 'success' }] });
    const noWait = await deploy('--variable', 'IMAGE=no-such.invalid/shop:1', '--no-wait');
    expect(noWait.exitCode).toBe(0);
  });

  it('the same tag with another image replaces what runs, and an older one that answers is not enough', async () => {
    const tag = ['--variable', 'IMAGE=shop:latest'];
    images.push('shop:latest');
    expect((await pipeline(...tag)).exitCode).toBe(0);
    await writeFile(join(shop, 'page.html'), 'another page');
    const withWorkingTree = await pipeline(...tag, '--working-tree');
    expect(withWorkingTree.exitCode, withWorkingTree.err).toBe(0);
    const [container] = await containers();
    const url = `${platform.emulator.gatewayUrl}/website/${container.name}/`;
    expect(await (await fetch(url)).text()).toBe('another page');
    await git('checkout', '-q', '.');
    // A response of an older version does not count.
    expect((await deploy('--variable', 'IMAGE=no-such.invalid/shop:2')).exitCode).toBe(1);
  });

  it("a branch that is gone is stopped by its name, with its app's address, environment and merge request", async () => {
    const { baseUrl, rootCredentials } = platform.emulator;
    const env = { TERRARIUM_API_KEY: rootCredentials.apiKey, TERRARIUM_API_SECRET: rootCredentials.apiSecret ?? '' };
    const stop = (branch: string) => cli.run(['pipeline', 'stop', '--branch', branch, '--base-url', baseUrl], { env });
    const { exitCode, out, err } = await stop(BRANCH);
    expect(exitCode, err).toBe(0);
    expect(out).toContain(`the app of '${BRANCH}' is stopped: container shop-feature-ferns-and-more`);
    expect(await containers()).toEqual([]);
    const [project] = (await inspect('scm')).projects;
    expect(project).toMatchObject({ merge_requests: [{ state: 'closed' }], environments: [{ state: 'stopped' }] });
    expect((await stop(BRANCH)).exitCode).toBe(0);
    expect(await stop('never-run')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('no run of a pipeline'),
    });
  });
});

describe('failures in a pipeline', () => {
  it('a wrong key fails the job, and the log says why', async () => {
    const { exitCode, out, err } = await pipeline('--variable', 'PLATFORM_API_KEY=wrong', '--job', 'deploy');
    expect(exitCode).toBe(1);
    expect(`${out}${err}`).toMatch(/refused: .*"code":401/);
    expect(err).toContain("the pipeline of 'feature/Ferns_and_more' failed");
    expect((await inspect('pipelines'))[0]).toMatchObject({
      state: 'failed',
      jobs: [{ name: 'deploy', state: 'failed' }],
    });
    expect(await containers()).toEqual([]);
  });

  it('a missing variable is reported before anything runs', async () => {
    const runs = (await inspect('pipelines')).length;
    const { exitCode, err } = await pipeline('--variable', 'PLATFORM_DEPLOY_URL=');
    expect(exitCode).toBe(2);
    expect(err).toContain('the pipeline requires PLATFORM_DEPLOY_URL, but no value is set');
    expect(await inspect('pipelines')).toHaveLength(runs);
  });

  it('a branch that is not there, a folder that is no repository', async () => {
    const { exitCode, err } = await pipeline('--branch', 'none');
    expect(exitCode).toBe(2);
    expect(err).toContain("has no branch or tag 'none'");
    expect(err).toContain('git switch none');
    const other = await cli.run(['pipeline', 'run', folder, '--branch', 'x', '--base-url', platform.emulator.baseUrl], {
      env: { HOME: folder },
    });
    expect(other).toMatchObject({ exitCode: 2, err: expect.stringContaining('is not a git repository') });
  });

  it('a job that fails stops the ones after it', async () => {
    await writeFile(join(shop, 'Dockerfile'), 'FROM no-such/image:1\n');
    await commit('Break the build');
    const { exitCode } = await pipeline();
    expect(exitCode).toBe(1);
    const [recorded] = await inspect('pipelines');
    expect(recorded).toMatchObject({
      state: 'failed',
      jobs: [
        { name: 'build', state: 'failed' },
        { name: 'deploy', state: 'skipped' },
        { name: 'stop', state: 'skipped' },
      ],
    });
    expect(await containers()).toEqual([]);
  });
});
