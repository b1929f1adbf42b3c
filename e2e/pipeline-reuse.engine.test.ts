import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BUILD_TIMEOUT_MS, buildCommand } from '../server/testing/command.ts';
import { requireEngine, testImage } from '../server/testing/engine.ts';
import { PipelineBench } from '../server/testing/pipeline-bench.ts';

const LIMIT_MS = 300_000;

const JOBS = `default: {image: "terrarium-test/busybox:1"}
build:
  stage: build
  coverage: '/covered (\\d+)/'
  script:
    - mkdir out
    - echo made > out/a.txt
    - echo VERSION=7 > build.env
    - 'echo "<testsuite><testcase name=\\"adds\\"/></testsuite>" > junit.xml'
    - echo covered 80
  artifacts: {paths: [out], reports: {dotenv: build.env, junit: junit.xml}}
use:
  script: [cat out/a.txt, echo version $VERSION]
calls:
  needs: []
  script: ['wget -qO- "$CI_API_V4_URL/version" || true']
fails:
  needs: []
  allow_failure: true
  script: [exit 3]
fails-once:
  needs: []
  retry: 1
  cache: {key: state, paths: [state], when: always}
  script: ['if test -d state; then exit 0; fi', mkdir state, touch state/a, exit 1]
`;

let bench: PipelineBench;

beforeAll(async () => {
  await requireEngine();
  await testImage();
  await buildCommand();
  bench = await PipelineBench.make({}, { '.gitlab-ci.yml': JOBS, '.gitignore': 'ignored\n' });
}, BUILD_TIMEOUT_MS + LIMIT_MS);
afterAll(() => bench?.close(), LIMIT_MS);

/** Runs the pipeline; returns the reused jobs and all jobs. */
async function runOnce(...words: string[]) {
  const { exitCode, out, err } = await bench.run('--source', 'push', '--json', ...words);
  expect(exitCode, `${out}${err}`).toBe(0);
  const { jobs, log, iid, sha } = JSON.parse(out);
  const reused = jobs.flatMap((job: { name: string; reusedFrom?: number }) => (job.reusedFrom ? job.name : []));
  const linesOf = (name: string) =>
    log.flatMap((line: string) => {
      const [, of, text] = /^\[[^\]]*\] (\S+) +(.*)$/.exec(line) ?? [];
      return of === name ? [text] : [];
    });
  return { jobs, log, iid, sha, reused, linesOf, said: err };
}

it('takes a job with the same inputs from its last run, with its log and results, unless it called the platform or failed', {
  timeout: LIMIT_MS,
}, async () => {
  const first = await runOnce();
  expect(first.reused).toEqual([]);
  const second = await runOnce();
  expect(second.reused).toEqual(['build', 'use']);
  expect(second.log).toContain('2 of 5 jobs reused from earlier runs. To run all jobs, use --no-cache.');
  expect(second.linesOf('build')).toEqual([`reused from run ${first.iid}`, ...first.linesOf('build')]);
  expect(second.linesOf('use')).toContain('> version 7');
  const build = { name: 'build', state: 'success', coverage: 80, reusedFrom: first.iid };
  expect(second.jobs[0]).toMatchObject({ ...build, tests: { total: 1, failed: 0 } });
  const { out } = await bench.start(['artifacts', JSON.parse((await bench.start(['list', '--json']).ended).out)[0].id])
    .ended;
  expect(out).toContain('out/a.txt');

  // Its results no longer exist.
  await rm(join(bench.runs, await keptFolder('build'), 'out/a.txt'));
  const third = await runOnce();
  expect(third.reused).toEqual(['use', 'fails-once']);
  expect(third.linesOf('use')).toContain('> made');
});

/** The folder with the results of a job. */
async function keptFolder(job: string): Promise<string> {
  const all = await readdir(bench.runs, { recursive: true });
  return all.find((path) => new RegExp(`/artifacts/\\w+/${job}-\\w+$`).test(path)) ?? '';
}

const ONE = `one:
  image: terrarium-test/busybox:1
  script: [cat a.txt]
`;

it('runs all jobs with --no-cache, and those of changed files', { timeout: LIMIT_MS }, async () => {
  await bench.commit({ '.gitlab-ci.yml': ONE, 'a.txt': 'a\n' });
  await runOnce();
  const again = await runOnce('--no-cache');
  expect(again.reused).toEqual([]);
  await bench.write({ 'a.txt': 'b\n' });
  const changed = await runOnce('--working-tree');
  expect(changed.linesOf('one')).toContain('> b');
  const same = await runOnce('--working-tree');
  expect(same.sha).toBe(changed.sha);
  expect(same.reused).toEqual(['one']);
  // A job that is named on the command line runs.
  expect((await runOnce('--working-tree', '--job', 'one')).reused).toEqual([]);
});

it('runs again with --watch when files change, until Ctrl+C', { timeout: LIMIT_MS }, async () => {
  await bench.commit({ '.gitlab-ci.yml': 'one: {script: [cat a.txt]}\n', 'a.txt': 'first\n' });
  const run = bench.start(['run', bench.dir, '--project', 'fern-moss/app', '--source', 'push', '--watch']);
  await run.waitForOutput('> first');
  await bench.write({ 'a.txt': 'second\n', ignored: 'x' });
  await bench.write({ 'a.txt': 'third\n' });
  await run.waitForOutput('> third');
  await bench.write({ 'a.txt': 'fourth\n', '.gitlab-ci.yml': 'one: {script: [cat a.txt, exit 1]}\n' });
  await run.waitForOutput('> fourth');
  await bench.write({ 'a.txt': 'fifth\n' });
  await run.waitForOutput('> fifth');
  run.child.kill('SIGINT');
  const { exitCode, err } = await run.ended;
  expect(exitCode).toBe(130);
  expect(err).toContain(`watching ${bench.dir} for changes`);
  expect(err).toContain("the pipeline of 'feature/a' failed");
  expect(await bench.runFolders()).toEqual([]);
});
