import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCommand } from '../server/testing/command.ts';
import { requireEngine, testImage } from '../server/testing/engine.ts';
import { makeEngineProxy } from '../server/testing/engine-proxy.ts';
import { PipelineBench } from '../server/testing/pipeline-bench.ts';
import type { Body } from '../server/testing/tenant.ts';

const SERVICE = 'terrarium-test/pipeline-service:1';

/** A team's repository: matrix, extends, local includes, reports, services, rules on merge requests. */
const FILES = {
  '.gitlab-ci.yml': `include:
  - local: /ci/jobs.yml
workflow:
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
      variables: {KIND: review}
    - if: $CI_PIPELINE_SOURCE == "push" || $CI_PIPELINE_SOURCE == "web"
      variables: {KIND: branch}
stages: [prepare, test, review]
variables:
  GREETING: "hello $CI_PROJECT_NAME"
  CI_PROJECT_TITLE: overridden

prepare:
  extends: .everywhere
  stage: prepare
  script:
    - mkdir -p out && echo "made by $CI_JOB_NAME" > out/data.txt && touch not-kept
    - echo "VERSION=1.2.$CI_COMMIT_SHORT_SHA" > build.env
  after_script:
    - echo "after $CI_JOB_STATUS" > out/after.txt
  artifacts:
    paths: [out/]
    exclude: [out/secret*]
    reports: {dotenv: build.env}

unit:
  extends: [.everywhere, .in-image]
  stage: test
  needs: [prepare]
  parallel:
    matrix:
      - SHAPE: [round, square]
        SIZE: s
  services:
    - name: ${SERVICE}
      alias: web
      variables: {PAGE: "served to $SHAPE"}
  script:
    - echo "$SHAPE $SIZE $CI_NODE_INDEX/$CI_NODE_TOTAL $VERSION in $PWD"
    - cat out/data.txt out/after.txt; test ! -e not-kept
    - wget -qO- http://web:8000/
    - 'wget -qO- --header "JOB-TOKEN: $CI_JOB_TOKEN" "$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests"'
    - touch not-an-artifact

alone:
  extends: .everywhere
  stage: test
  dependencies: []
  script:
    - test ! -e out; test ! -e not-an-artifact
    - echo "$GREETING, $KIND, $CI_PROJECT_TITLE"; git log -1 --format='at %h'

optional:
  extends: .everywhere
  stage: test
  image: no-such.invalid/image:1
  allow_failure: true
  script: [echo never]

of-merge-requests:
  stage: review
  rules:
    - if: $CI_MERGE_REQUEST_IID
      changes: ["src/**/*"]
  environment:
    name: review/$CI_COMMIT_REF_SLUG
    url: http://$CI_ENVIRONMENT_SLUG.example/$VERSION
  script:
    - 'curl -fsS -H "JOB-TOKEN: $CI_JOB_TOKEN" "$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID"'
    - echo "$VERSION of $CI_MERGE_REQUEST_TITLE"
    - echo "branch [$CI_COMMIT_BRANCH] to $CI_MERGE_REQUEST_TARGET_BRANCH_NAME of $CI_COMMIT_REF_NAME for $CI_ENVIRONMENT_NAME"

of-branches:
  stage: review
  only: [branches]
  script:
    - echo "branch [$CI_COMMIT_BRANCH] token open"
`,
  'ci/jobs.yml': `.everywhere:
  rules:
    - when: on_success
.in-image:
  image: terrarium-test/busybox:1
  before_script:
    - echo "before in $CI_PROJECT_DIR"
`,
  'src/main.txt': 'x\n',
};

let harness: PipelineBench;
let short: string;

const docker = async (...args: string[]) => (await promisify(execFile)('docker', args)).stdout.trim();
/** Lists the containers and networks of a run: other tests run pipelines in the same engine. */
const leftInEngine = async (mark: string) => {
  const filter = ['--quiet', '--filter', `label=terrarium.world=${mark}`];
  return [await docker('ps', '--all', ...filter), await docker('network', 'ls', ...filter)].join('');
};

beforeAll(async () => {
  await requireEngine();
  await testImage();
  const build = spawn('docker', ['build', '--quiet', '--tag', SERVICE, '-'], {
    env: { ...process.env, DOCKER_BUILDKIT: '0' },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  build.stdin.end(
    `FROM terrarium-test/busybox:1\nEXPOSE 8000\nCMD ["sh", "-c", "echo $PAGE > /www/index.html; exec httpd -f -p 8000 -h /www"]\n`,
  );
  await once(build, 'close');
  await buildCommand();
  harness = await PipelineBench.make({}, FILES);
  short = await harness.commit({ 'src/main.txt': 'y\n' }, 'Turn x into y');
});
afterAll(async () => {
  await harness?.close();
  await docker('image', 'rm', '--force', SERVICE);
});

describe("a team's own definition", () => {
  it('runs as on the server: matrix, services, reports, rules of merge requests', async () => {
    const running = harness.run('--source', 'merge_request_event');
    await expect.poll(() => harness.runFolders()).toHaveLength(1);
    const [mark = ''] = await harness.runFolders();
    const { exitCode, out, err } = await running;
    expect(exitCode, `${out}${err}`).toBe(0);
    for (const [shape, index] of [
      ['round', 1],
      ['square', 2],
    ]) {
      expect(out).toContain(`> ${shape} s ${index}/2 1.2.${short} in /builds/fern-moss/app`);
      expect(out).toContain(`> served to ${shape}`);
    }
    expect(out).toContain('> made by prepare');
    expect(out).toContain('> after success');
    expect(out).toContain('> before in /builds/fern-moss/app');
    expect(out).toContain('"source_branch":"feature/a"');
    expect(out).toContain(`> hello app, review, overridden`);
    expect(out).toContain(`> 1.2.${short} of Turn x into y`);
    expect(out).toContain(`> branch [] to main of feature/a for review/feature-a`);
    expect(out).toMatch(/optional +> image 'no-such\.invalid\/image:1' cannot be pulled: .*--shell/);
    expect(out).not.toContain('of-branches');

    const [run] = await harness.inspect('pipelines');
    expect(run).toMatchObject({ state: 'success', source: 'merge_request_event', exitCode: 0 });
    expect(run.jobs.map(({ name, state, mayFail }: Body) => [name, state, mayFail])).toEqual([
      ['prepare', 'success', undefined],
      ['unit: [round, s]', 'success', undefined],
      ['unit: [square, s]', 'success', undefined],
      ['alone', 'success', undefined],
      ['optional', 'failed', true],
      ['of-merge-requests', 'success', undefined],
    ]);
    const [project] = (await harness.inspect('scm')).projects.filter(
      ({ path_with_namespace: path }: Body) => path === 'fern-moss/app',
    );
    expect(project).toMatchObject({
      merge_requests: [{ title: expect.any(String) }],
      environments: [{ name: 'review/feature-a', external_url: expect.stringContaining(`.example/1.2.${short}`) }],
    });
    expect(await leftInEngine(mark)).toBe('');
    expect(await harness.git('status', '--porcelain')).toBe('');
  });

  it('of a push has other jobs, and says of each that it runs here', async () => {
    const { exitCode, out, err } = await harness.run(
      '--source',
      'push',
      '--shell',
      '--job',
      'alone',
      '--job',
      'of-branches',
    );
    expect(exitCode, `${out}${err}`).toBe(0);
    expect(out).toContain('> hello app, branch, overridden');
    expect(out).toContain('> branch [feature/a] token open');
    const inImage = await harness.run('--source', 'push', '--shell', '--job', 'optional');
    expect(inImage.out).toContain('runs on this machine instead of in no-such.invalid/image:1: --shell is set');
    expect(inImage.exitCode).toBe(0);
    const unknown = await harness.run('--source', 'push', '--job', 'of-merge-requests');
    expect(unknown).toMatchObject({ exitCode: 2, err: expect.stringContaining('by its rules') });
    const never = await harness.run('--source', 'schedule');
    expect(never).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining("a pipeline of 'feature/a' for"),
    });
  });

  it('has its variables overridden by options, and prints only JSON on standard output', async () => {
    const more = ['--variable', 'CI_PROJECT_NAME=mine', '--variable', 'CI_API_V4_URL=http://x.invalid'];
    const { exitCode, out, err } = await harness.run('--job', 'alone', '--json', ...more);
    expect(exitCode, err).toBe(0);
    expect(err).toContain('> hello mine, review, overridden');
    expect(JSON.parse(out)).toMatchObject({ state: 'success', jobs: [{ name: 'alone' }] });
  });

  it('runs one job again with the artifacts of its commit, here and through the API', async () => {
    const [{ id }] = (await harness.inspect('pipelines')).filter(({ jobs }: Body) => jobs.length > 3);
    const again = await harness.start(['retry', id, 'unit: [round, s]']).ended;
    expect(again.exitCode, `${again.out}${again.err}`).toBe(0);
    expect(again.out).toContain('> made by prepare');
    const retriedRun = await harness.inspect(`pipelines/${id}/jobs/prepare/retry`, 'POST');
    expect(retriedRun).toMatchObject({ retryOf: id, state: 'running' });
    const ended = async () => (await harness.inspect(`pipelines/${retriedRun.id}`)).state;
    await expect.poll(ended).toBe('success');
    const wrong = await harness.start(['retry', id, 'none']).ended;
    expect(wrong).toMatchObject({ exitCode: 2, err: expect.stringContaining("has no job 'none'") });
  });

  it('includes uncommitted changes only on request', async () => {
    await harness.write({ 'src/main.txt': 'z\n', 'src/new.txt': 'new\n' });
    await harness.commit({ '.gitlab-ci.yml': 'look: {script: [cat src/*.txt, "git log -1 --format=%s"]}\n' }, 'Look');
    await harness.git('reset', '-q', '--soft', 'HEAD~1');
    await harness.git('restore', '--staged', 'src');
    await harness.git('commit', '-q', '-m', 'Look');
    const plain = await harness.run();
    expect(plain.out).toContain('2 uncommitted changes in');
    expect(plain.out).toContain('--working-tree');
    expect(plain.out).toContain('> y');
    expect(plain.out).not.toContain('> z');
    const withWorkingTree = await harness.run('--working-tree');
    expect(withWorkingTree.out).toContain('> new');
    expect(withWorkingTree.out).toContain('> z');
    expect(withWorkingTree.out).toContain('> Look (with the working tree)');
    const [workingTreeRun, before] = await harness.inspect('pipelines');
    expect(workingTreeRun.sha).not.toBe(before.sha);
    expect(workingTreeRun.hasWorkingTree).toBe(true);
  });

  it('that loses its engine in the middle fails with a sentence, and leaves nothing once the engine is back', async () => {
    const job = 'long: {image: "terrarium-test/busybox:1", script: [echo begun, sleep 600]}\n';
    await harness.commit({ '.gitlab-ci.yml': job }, 'Take long');
    const proxy = await makeEngineProxy();
    try {
      await proxy.open();
      const args = ['run', harness.dir, '--project', 'fern-moss/app'];
      const pipeline = harness.start(args, { DOCKER_HOST: proxy.url, CONTAINER_HOST: proxy.url });
      await pipeline.waitForOutput('> begun');
      const [runFolder = ''] = await harness.runFolders();
      await proxy.close();
      const { exitCode, out } = await pipeline.ended;
      expect(exitCode).toBe(1);
      expect(out).toMatch(
        /> the container engine stopped while the job was running\. Start the engine, and run the job again\.$/m,
      );
      expect((await harness.inspect('pipelines'))[0]).toMatchObject({ state: 'failed', jobs: [{ state: 'failed' }] });
      expect(await harness.runFolders()).toEqual([]);
      expect(await leftInEngine(runFolder)).not.toBe('');
      // The next job in an image looks for the engine, and for what is left in it.
      const shortJob = 'short: {image: "terrarium-test/busybox:1", script: [echo hi]}\n';
      await harness.commit({ '.gitlab-ci.yml': shortJob }, 'Take short');
      expect((await harness.run()).exitCode).toBe(0);
      expect(await leftInEngine(runFolder)).toBe('');
      expect(await harness.runFolders()).toEqual([]);
    } finally {
      await proxy.remove();
    }
  });
});
