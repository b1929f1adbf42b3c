import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildCommand } from '../server/testing/command.ts';
import { PipelineBench, readerSettings } from '../server/testing/pipeline-bench.ts';
import { startPlatform } from '../server/testing/platform.ts';
import type { Body } from '../server/testing/tenant.ts';

const DEFINITION = `
workflow: {rules: [{variables: {DEPLOY: "yes"}}]}
stages: [build, deploy]
build:
  stage: build
  image: node:$VERSION
  variables: {VERSION: "20"}
  tags: [large]
  parallel: {matrix: [{SHAPE: [round, square]}]}
  script: [echo hi]
deploy:
  stage: deploy
  needs: [{job: build, parallel: {matrix: [{SHAPE: round}]}}]
  rules: [{if: $CI_COMMIT_BRANCH == "main", when: never}, {if: $DEPLOY == "yes", when: manual}]
  script: [echo hi]
never: {stage: deploy, rules: [{if: $CI_COMMIT_TAG}], script: [echo hi]}
`;

let harness: PipelineBench;

beforeAll(async () => {
  await buildCommand();
  harness = await PipelineBench.make({}, { '.gitlab-ci.yml': DEFINITION });
});
afterAll(() => harness?.close());

const plan = (command: string, ...args: string[]) =>
  harness.start([command, harness.dir, '--project', 'fern-moss/app', ...args], readerSettings(harness.dir)).ended;

it('shows the jobs with their rule, image and variables, what differs first, and runs nothing', async () => {
  await harness.commit({ '.gitlab-ci.yml': DEFINITION });
  const runsBefore = await harness.inspect('pipelines');
  const { exitCode, out, err } = await plan('plan', '--source', 'push');
  expect(exitCode, err).toBe(0);
  const short = await harness.git('rev-parse', '--short=8', 'HEAD');
  expect(out.split('\n').slice(0, 11)).toEqual([
    "not as on GitLab: tags of 'build: [round]', 'build: [square]': every job runs on this machine",
    `push pipeline of 'feature/a' (${short}):`,
    '  build / build: [round]: on_success, in node:20',
    '      variables:',
    '        VERSION=20',
    '        SHAPE=round',
    '  build / build: [square]: on_success, in node:20',
    '      variables:',
    '        VERSION=20',
    '        SHAPE=square',
    '  deploy / deploy: manual, on this machine, needs build: [round]',
  ]);
  expect(out).toContain('by rule 2 (if: $DEPLOY == "yes"), when: manual');
  expect(out).toContain('not run: never, no rule matched');
  expect((await plan('plan', '--source', 'push', '--list')).out.split('\n')).toEqual([
    'build: [round]',
    'build: [square]',
    'deploy',
    '',
  ]);
  expect(JSON.parse((await plan('plan', '--source', 'push', '--json')).out)).toMatchObject({
    source: 'push',
    jobs: [{ image: 'node:20' }, {}, { when: 'manual' }],
    leftOut: [{ name: 'never' }],
    findings: [{ name: 'tags', state: 'differs' }],
  });
  expect((await plan('lint', '--source', 'push')).out).toContain('is valid: 3 jobs in a push pipeline');
  expect(await harness.inspect('pipelines')).toEqual(runsBefore);
});

it('plans a pipeline without any change to the platform, its mock GitLab or the disk', async () => {
  await harness.commit({ '.gitlab-ci.yml': DEFINITION });
  const state = async () => ({
    projects: (await harness.inspect('scm')).projects,
    files: (await readdir(harness.folder, { recursive: true })).sort(),
    changes: (await harness.inspect('traffic?plane=control')).requests.filter(({ method }: Body) => method !== 'GET'),
  });
  const before = await state();
  const planned = await harness.start(['plan', harness.dir, '--project', 'new-group/new-app', '--list']).ended;
  expect(planned, planned.err).toMatchObject({ exitCode: 0, out: 'build: [round]\nbuild: [square]\ndeploy\n' });
  expect(await state()).toEqual(before);
});

it.each([
  ['a token that a script reads', 'a: {id_tokens: {TOKEN: {aud: x}}, script: [echo $TOKEN]}\n', 'id_tokens'],
  ['a secret that a script reads', 'a: {secrets: {KEY: {vault: a/b/c@d}}, script: [echo $KEY]}\n', 'secrets'],
  ['services without an image', 'a: {services: [postgres:16], script: [echo hi]}\n', 'services'],
])('refuses %s, unless it is forced', async (_what, definition, keyword) => {
  await harness.commit({ '.gitlab-ci.yml': definition });
  const refused = await harness.run();
  expect(refused).toMatchObject({ exitCode: 2, err: expect.stringContaining(`${keyword} of 'a'`) });
  expect((await plan('plan')).exitCode).toBe(2);
  const forced = await harness.run('--force');
  expect(forced.exitCode, forced.err).toBe(0);
  expect(forced.out).toContain(`not as on GitLab: ${keyword} of 'a'`);
});

it('shows the jobs of child pipelines, and what is refused in them, before the run ("Downstream pipelines")', async () => {
  const parent = `
stages: [build, deploy]
make: {stage: build, script: [echo hi], artifacts: {paths: [made.yml]}}
service: {stage: build, trigger: {include: [{local: ci/a.yml}, {local: ci/b.yml}], strategy: depend}}
made: {stage: deploy, trigger: {include: [{artifact: made.yml, job: make}]}}
`;
  const below = 'inner: {trigger: {include: ci/inner.yml, strategy: depend}}\n';
  const inner = (more: string) => `
deep: {image: "node:$VERSION", variables: {VERSION: "20"}, tags: [large], script: [echo hi]${more}}
never: {rules: [{if: $CI_COMMIT_TAG}], script: [echo hi]}
`;
  const files = {
    '.gitlab-ci.yml': parent,
    'ci/a.yml': 'first: {image: $ABSENT, script: [echo hi]}\n',
    'ci/b.yml': below,
  };
  await harness.commit({ ...files, 'ci/inner.yml': inner('') });
  const { exitCode, out, err } = await plan('plan', '--source', 'push');
  expect(exitCode, err).toBe(0);
  expect(out.split('\n').filter((line) => !/push pipeline/.test(line))).toEqual([
    "not as on GitLab: tags of 'service / inner / deep': every job runs on this machine",
    '  build / make: on_success, on this machine',
    '  build / service: on_success, starts a child pipeline',
    '    test / service / first: on_success, in $ABSENT',
    '    test / service / inner: on_success, starts a child pipeline',
    '      test / service / inner / deep: on_success, in node:20',
    '          variables:',
    '            VERSION=20',
    '      not run: never, no rule matched',
    '  deploy / made: on_success, starts a child pipeline',
    '      its jobs are known when the job that creates the definition has run',
    '',
  ]);
  expect((await plan('plan', '--source', 'push', '--list')).out.trim().split('\n')).toEqual([
    'make',
    'service',
    'service / first',
    'service / inner',
    'service / inner / deep',
    'made',
  ]);
  await harness.commit({ 'ci/inner.yml': inner(', id_tokens: {KEY: {aud: x}}, after_script: [echo $KEY]') });
  for (const command of ['plan', 'run']) {
    const refused = await plan(command, '--source', 'push');
    expect(refused).toMatchObject({ exitCode: 2, out: expect.not.stringContaining('starting') });
    expect(`${refused.out}${refused.err}`).toContain("id_tokens of 'service / inner / deep'");
  }
  await harness.commit({ 'ci/inner.yml': 'deep: {script: [echo\n' });
  expect(await plan('lint', '--source', 'push')).toMatchObject({
    exitCode: 2,
    out: expect.not.stringContaining('is valid'),
    err: expect.stringMatching(/child pipeline of 'service \/ inner' .*ci\/inner\.yml:2/),
  });
});

it('compares commits of the default branch that the remote does not have with those that it has ("rules:changes")', async () => {
  const before = await harness.git('rev-parse', 'HEAD');
  await harness.git('switch', '-q', 'main');
  await harness.commit({
    '.gitlab-ci.yml': 'api: {script: [echo hi], rules: [{changes: [api/*]}]}\nb: {script: [echo hi]}\n',
  });
  await harness.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
  await harness.commit({ 'api/a.txt': 'new' });
  await harness.commit({ 'docs/a.txt': 'new' });
  const jobs = async () => (await plan('plan', '--source', 'push', '--list')).out;
  expect(await jobs()).toMatch(/^api\b/m);
  await harness.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
  expect(await jobs()).not.toMatch(/^api\b/m);
  await harness.git('update-ref', '-d', 'refs/remotes/origin/main');
  await harness.git('reset', '-q', '--hard', 'HEAD~3');
  await harness.git('switch', '-q', '--detach', before);
  await harness.git('switch', '-q', 'feature/a');
});

it('compares a push of a branch with the commit that the remote has, and says with what else ("rules:changes")', async () => {
  const rules = (compare: string) => `{script: [echo hi], rules: [{changes: {paths: [api/*]${compare}}}]}`;
  await harness.commit({
    '.gitlab-ci.yml': `api: ${rules('')}\nbranch: ${rules(', compare_to: main')}\nb: {script: [echo hi]}\n`,
    'api/of-branch.txt': 'new',
  });
  const jobs = () => plan('plan', '--source', 'push', '--list');
  expect(await jobs()).toMatchObject({ out: 'api\nbranch\nb\n', err: expect.stringContaining("where it left 'main'") });
  await harness.git('update-ref', 'refs/remotes/origin/feature/a', 'HEAD');
  await harness.commit({ 'docs/of-branch.txt': 'new' });
  expect(await jobs()).toMatchObject({ out: 'branch\nb\n', err: '' });
  await harness.git('update-ref', '-d', 'refs/remotes/origin/feature/a');
});

it('refuses an include that does not exist', async () => {
  await harness.commit({ '.gitlab-ci.yml': 'include: ci/none.yml\na: {script: [echo hi]}\n' });
  expect(await plan('plan')).toMatchObject({ exitCode: 2, err: expect.stringContaining('ci/none.yml') });
});

it('includes files of other projects from the server that `origin` of the repository names', async () => {
  const server = await startPlatform({});
  const temporary = await mkdtemp(join(tmpdir(), 'terrarium-include-'));
  try {
    const { scmUrl, scmToken } = server.emulator;
    const response = await fetch(`${scmUrl}/api/v4/projects`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': scmToken, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'templates', namespace: 'fern-moss' }),
    });
    expect(response.status, await response.text()).toBe(201);
    await harness.git('switch', '-q', '-c', 'templates');
    await harness.commit({ 'jobs.yml': 'from-there: {script: [echo hi]}\n' });
    const to = `${scmUrl.replace('//', `//oauth2:${scmToken}@`)}/fern-moss/templates.git`;
    await harness.git('push', '-q', '-o', 'ci.skip', to, 'templates:main');
    await harness.git('switch', '-q', 'feature/a');
    await harness.git('remote', 'add', 'origin', `${scmUrl}/fern-moss/app.git`);
    await harness.commit({
      '.gitlab-ci.yml': 'include: [{project: fern-moss/templates, ref: main, file: jobs.yml}]\n',
    });
    const password = `!f() { echo username=oauth2; echo password=${scmToken}; }; f`;
    const credentials = {
      // The reader does not support spaces in it.
      TMPDIR: temporary,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'credential.helper',
      GIT_CONFIG_VALUE_0: password,
    };
    const args = ['plan', harness.dir, '--project', 'fern-moss/app', '--list'];
    const found = await harness.start(args, credentials).ended;
    expect(found, found.err).toMatchObject({ exitCode: 0, out: 'from-there\n' });
    const refused = await harness.start(args, { TMPDIR: temporary }).ended;
    expect(refused).toMatchObject({
      exitCode: 2,
      err: expect.stringMatching(
        /Project include could not be fetched \{ project: fern-moss\/templates, ref: main, file: jobs.yml \}$/m,
      ),
    });
  } finally {
    await server.stop();
    await rm(temporary, { recursive: true, force: true });
  }
});
