import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic, send } from '../server/testing/checked-client.ts';
import { buildCommand } from '../server/testing/command.ts';
import { PipelineBench } from '../server/testing/pipeline-bench.ts';
import { startPlatform } from '../server/testing/platform.ts';
import type { Body } from '../server/testing/tenant.ts';

const POLL = { interval: 100 };
const run = promisify(execFile);
/** Marks the processes of a test. */
const MARK = '4711.25';

let harness: PipelineBench;

/** Processes of jobs of these tests that are still running. */
const remainingProcesses = async () =>
  (await run('ps', ['-eo', 'args'])).stdout.split('\n').filter((line) => line === `sleep ${MARK}`);
const newest = async (): Promise<Body> => (await harness.inspect('pipelines'))[0];
const folders = () => harness.runFolders();
const define = (definition: string) => harness.commit({ '.gitlab-ci.yml': definition });

beforeAll(async () => {
  await buildCommand();
  harness = await PipelineBench.make({}, { '.gitlab-ci.yml': 'a: {script: [echo hi]}\n' });
});
afterAll(() => harness?.close());

const SLOW = `slow: {stage: build, script: [echo begun, sleep ${MARK}]}\nlater: {stage: test, script: [echo never]}\n`;

describe('a run that is ended from outside', () => {
  it('by Ctrl+C is canceled with its jobs and exit code 130, and nothing is left', async () => {
    await define(SLOW);
    const pipeline = harness.start(['run', harness.dir, '--project', 'fern-moss/app']);
    await pipeline.waitForOutput('> begun');
    pipeline.child.kill('SIGINT');
    const { exitCode, err } = await pipeline.ended;
    expect(exitCode).toBe(130);
    expect(err).toContain("the pipeline of 'feature/a' was cancelled");
    expect(await newest()).toMatchObject({
      state: 'canceled',
      jobs: [
        { name: 'slow', state: 'canceled' },
        { name: 'later', state: 'canceled' },
      ],
    });
    expect(await remainingProcesses()).toEqual([]);
    expect(await folders()).toEqual([]);
  });

  it.each([
    ['run', 'SIGINT', 130],
    ['plan', 'SIGTERM', 143],
  ] as const)('before its first job is cancelled, too: `pipeline %s` by %s', async (name, signal, code) => {
    const pipeline = harness.start([name, harness.dir, '--project', 'fern-moss/app']);
    await expect.poll(folders, POLL).toHaveLength(1);
    pipeline.child.kill(signal);
    expect((await pipeline.ended).exitCode).toBe(code);
    expect(await folders()).toEqual([]);
  });

  it('by kill -9 is cleaned up after by the next ones: secrets, processes, key, record', async () => {
    await define(SLOW);
    const pipeline = harness.start(['run', harness.dir, '--project', 'fern-moss/app']);
    await pipeline.waitForOutput('> begun');
    const { id, apiKey } = await newest();
    pipeline.child.kill('SIGKILL');
    await pipeline.ended;
    expect(await folders()).toHaveLength(1);
    // The report of its start precedes the start.
    await expect.poll(remainingProcesses, POLL).toHaveLength(1);
    // Two runs of one commit at the same time do not affect each other.
    await define('a: {script: ["echo $RANDOM > x", sleep 0.5], artifacts: {paths: [x]}}\n');
    const both = await Promise.all([harness.run(), harness.run()]);
    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(await folders()).toEqual([]);
    await expect.poll(remainingProcesses, POLL).toEqual([]);
    expect(await harness.inspect(`pipelines/${id}`)).toMatchObject({
      state: 'canceled',
      jobs: [{ state: 'canceled' }, {}],
    });
    const keys = JSON.stringify(await harness.inspect('access'));
    expect(keys).not.toContain(apiKey);
  });
});

describe('a job', () => {
  it('may leave processes, print megabytes and no text, is tried again, takes its time only, and fails as it may', async () => {
    await define(`leaves: {stage: build, script: ["sleep ${MARK} &", "setsid sleep ${MARK} &", echo done]}
prints:
  stage: build
  script:
    - for i in $(seq 20000); do echo "line $i of very many lines that a build may well print, one after the other, again"; done
    - head -c 100000 /dev/zero
    - printf '\\033[31mred\\377\\000\\n'
    - echo last
a: {stage: build, retry: 1, script: [test -e ../../seen-$CI_JOB_ID || exit 3], allow_failure: {exit_codes: [3]}}
b: {stage: build, timeout: 1s, allow_failure: true, script: [sleep ${MARK}]}
c: {stage: test, script: [exit 7]}
d: {stage: deploy, when: on_failure, script: [echo fixed]}
e: {stage: deploy, when: manual, script: [echo never]}
`);
    const { exitCode, out } = await harness.run();
    expect(exitCode).toBe(1);
    expect(out.length).toBeGreaterThan(1_800_000);
    expect(out).toContain('> last');
    expect(out).toContain('retry 1 of 1');
    expect(out).toContain('it exceeded its timeout of 1s');
    expect(out).toContain('> fixed');
    const { id, jobs } = await newest();
    expect(jobs.map(({ name, state }: Body) => `${name} ${state}`)).toEqual([
      'leaves success',
      'prints success',
      'a failed',
      'b failed',
      'c failed',
      'd success',
      'e skipped',
    ]);
    const { log } = await harness.inspect(`pipelines/${id}`);
    expect(log.join('\n')).toContain('> last');
    await expect.poll(remainingProcesses, POLL).toEqual([]);
  });
});

it('asks no container engine for jobs without an image: one that hangs does not hold up the run', async () => {
  await define('a: {script: [echo hi]}\n');
  let connections = 0;
  const engine = createServer(() => {
    connections += 1;
  }).listen(0, '127.0.0.1');
  await once(engine, 'listening');
  try {
    const { port } = engine.address() as AddressInfo;
    const args = ['run', harness.dir, '--project', 'fern-moss/app'];
    const { exitCode, err } = await harness.start(args, { DOCKER_HOST: `tcp://127.0.0.1:${port}` }).ended;
    expect({ exitCode, connections }, err).toEqual({ exitCode: 0, connections: 0 });
  } finally {
    engine.close();
  }
});

it('runs a job without rules for a merge request that the rules of the workflow let in, and fails with it', async () => {
  await define(`workflow:
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
unit: {script: [echo tested, exit 1]}
review: {script: [echo hi], rules: [{if: $CI_MERGE_REQUEST_IID}]}
`);
  const { exitCode, out } = await harness.run();
  expect(out).toContain('> tested');
  expect(exitCode).toBe(1);
  expect(await newest()).toMatchObject({
    source: 'merge_request_event',
    jobs: [
      { name: 'unit', state: 'failed' },
      { name: 'review', state: 'success' },
    ],
  });
});

describe('what cannot be run', () => {
  it('says where its definition is wrong, and nothing was begun', async () => {
    await define('ci: [a\nb: {\n');
    const runs = (await harness.inspect('pipelines')).length;
    const { exitCode, err } = await harness.run();
    expect(err).toContain('.gitlab-ci.yml:2:1 is not valid YAML');
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(exitCode).toBe(2);
    expect(await harness.inspect('pipelines')).toHaveLength(runs);
    expect(await folders()).toEqual([]);
  });

  it('says which jobs need each other in a cycle, and nothing was begun', async () => {
    await define(
      ['a: {needs: [c]', 'b: {needs: [a]', 'c: {needs: [b]']
        .map((jobText) => `${jobText}, script: [echo hi]}\n`)
        .join(''),
    );
    const runs = (await harness.inspect('pipelines')).length;
    const { exitCode, err } = await harness.run();
    expect(err).toContain('circular needs: a -> c -> b -> a');
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(exitCode).toBe(2);
    expect(await harness.inspect('pipelines')).toHaveLength(runs);
  });

  it('says that a program is missing', async () => {
    await define('a: {script: [echo hi]}\n');
    const bin = join(harness.folder, 'bin');
    await mkdir(bin);
    for (const name of ['git', 'sh']) await symlink((await run('which', [name])).stdout.trim(), join(bin, name));
    const withoutBash = await harness.start(['run', harness.dir], { PATH: bin }).ended;
    expect(withoutBash).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining("'bash' is not on the PATH. To see how to install it"),
    });
    const withoutPrograms = await harness.start(['run', harness.dir], { PATH: join(harness.folder, 'nowhere') }).ended;
    expect(withoutPrograms).toMatchObject({ exitCode: 2, err: expect.stringContaining("'git' is not on the PATH") });
  });
});

describe.runIf(process.platform === 'linux' && process.getuid?.() === 0)('a full disk', () => {
  const sentence = (small: string) =>
    `the disk of ${small}, where pipelines run, is full. Free some space, or set TMPDIR`;

  it('fails the job that it meets, and keeps a run from beginning, with a sentence; nothing is left', async () => {
    const small = join(harness.folder, 'small');
    await mkdir(small);
    await run('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', small]);
    try {
      await define(`stages: [one, two]
fill: {stage: one, script: ["head -c 8000000 /dev/zero > ../all-there-is || true"]}
meet: {stage: two, script: [echo never]}
`);
      const start = () => harness.start(['run', harness.dir, '--project', 'fern-moss/app'], { TMPDIR: small }).ended;
      const met = await start();
      expect(met.exitCode, met.err).toBe(1);
      expect(met.out).toContain(`> ${sentence(small)}`);
      expect((await newest()).jobs).toMatchObject([{ state: 'success' }, { name: 'meet', state: 'failed' }]);
      const listLeftovers = async () => (await readdir(small)).filter((name) => name.startsWith('terrarium-pipeline-'));
      expect(await listLeftovers()).toEqual([]);

      await run('sh', ['-c', 'head -c 8000000 /dev/zero > "$0/filler" || true', small]);
      const rejectedRun = await start();
      expect(rejectedRun).toMatchObject({ exitCode: 1, out: '', err: expect.stringContaining(sentence(small)) });
      expect(rejectedRun.err.trim().split('\n')).toHaveLength(1);
      expect(await listLeftovers()).toEqual([]);
    } finally {
      await run('umount', [small]);
    }
  });
});

describe('repositories of all kinds', () => {
  const other = () => join(harness.folder, 'other');
  const runIn = (dir: string, ...more: string[]) =>
    harness.start(['run', dir, '--project', 'fern-moss/app', ...more]).ended;

  it('one without a commit, one with no branch checked out', async () => {
    await define('a: {script: [echo hi]}\n');
    await run('git', ['init', '-q', '-b', 'main', other()]);
    await run('cp', [join(harness.dir, '.gitlab-ci.yml'), other()]);
    expect(await runIn(other())).toMatchObject({ exitCode: 2, err: expect.stringContaining('has no commit yet') });
    await rm(other(), { recursive: true });
    await harness.git('switch', '-q', '--detach');
    expect(await runIn(harness.dir)).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('Select one with --branch'),
    });
    const named = await runIn(harness.dir, '--branch', 'feature/as-ci-does');
    expect(named.exitCode, named.err).toBe(0);
    await harness.git('switch', '-q', 'feature/a');
  });

  it('a shallow clone, in which what has changed cannot be known', async () => {
    await define('a: {script: [git log --oneline], rules: [{changes: ["*.txt"]}]}\n');
    await run('git', ['clone', '-q', '--depth', '1', '--no-single-branch', `file://${harness.dir}`, other()]);
    await run('git', ['-C', other(), 'remote', 'set-head', 'origin', 'main']);
    const reported = await runIn(other());
    expect(reported).toMatchObject({ exitCode: 2, err: expect.stringContaining('--unshallow') });
    // In this case, all files count as changed.
    const web = await runIn(other(), '--source', 'web');
    expect(web.exitCode, web.err).toBe(0);
    await rm(other(), { recursive: true });
  });

  it('one with a submodule, which is an empty folder, on a branch with umlauts and of 200 characters', async () => {
    const branch = `feature/Größe-${'x'.repeat(186)}`;
    expect(branch).toHaveLength(200);
    await harness.git('switch', '-q', '-c', branch);
    await harness.git('submodule', '--quiet', 'add', harness.dir, 'vendor/self');
    await define(`a:
  script:
    - test -d vendor/self && test ! -e vendor/self/.gitlab-ci.yml
    - echo "slug $CI_COMMIT_REF_SLUG of $CI_COMMIT_REF_NAME"
`);
    const { exitCode, out, err } = await harness.run();
    expect(exitCode, `${out}${err}`).toBe(0);
    expect(out).toContain('submodules are empty folders');
    expect(out).toContain(`> slug feature-gr--e-${'x'.repeat(49)} of ${branch}`);
    await harness.git('switch', '-q', 'feature/a');
  });
});

it("the window's button works where root's secret was given, and its run is cancelled there", async () => {
  const pair = { rootApiKey: 'ours', rootApiSecret: 'a-secret-that-somebody-chose' };
  const platform = await startPlatform({ seed: 'demo', ...pair });
  try {
    const auth = basic(pair.rootApiKey, pair.rootApiSecret);
    const inspect = (method: string, path: string) =>
      send(method, `${platform.emulator.baseUrl}/inspect/${path}`, { auth });
    const startReply = await inspect('POST', 'pipelines/demo');
    expect(startReply).toMatchObject({ status: 202, body: { state: 'running', source: 'merge_request_event' } });
    const { id } = startReply.body;
    expect((await inspect('POST', 'pipelines/demo')).status).toBe(409);
    expect((await inspect('POST', `pipelines/${id}/stop`)).status).toBe(202);
    await expect.poll(async () => (await inspect('GET', `pipelines/${id}`)).body.state, POLL).toBe('canceled');
    expect((await inspect('POST', `pipelines/${id}/stop`)).status).toBe(409);
    const retried = await inspect('POST', `pipelines/${id}/jobs/build/retry`);
    expect(retried).toMatchObject({ status: 202, body: { retryOf: id } });
    expect((await inspect('POST', `pipelines/${retried.body.id}/stop`)).status).toBe(202);
  } finally {
    await platform.stop();
  }
});
