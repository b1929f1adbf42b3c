import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCommand } from '../server/testing/command.ts';
import { PipelineBench } from '../server/testing/pipeline-bench.ts';
import type { Body } from '../server/testing/tenant.ts';

/* Rules that decide whether a run succeeds, each with the section of GitLab's documentation ("CI/CD YAML syntax reference" unless said). */

let harness: PipelineBench;

beforeAll(async () => {
  await buildCommand();
  harness = await PipelineBench.make({}, { '.gitlab-ci.yml': 'a: {script: [echo hi]}\n' });
});
afterAll(() => harness?.close());

/** Runs the branch pipeline of a definition; its exit code, its output, and the states of its jobs. */
const runJobs = (definition: string, ...args: string[]) => runDefinition(definition, '--source', 'push', ...args);

/** Runs a definition as `runJobs`, but all the pipelines that the branch has unless the arguments name a source. */
async function runDefinition(definition: string, ...args: string[]) {
  await harness.commit({ '.gitlab-ci.yml': definition });
  const { exitCode, out, err } = await harness.run(...args);
  const [{ jobs }]: Body[] = await harness.inspect('pipelines');
  const states = jobs.map(({ name, state }: Body) => `${name} ${state}`);
  return { exitCode, out: `${out}${err}`, states };
}

it('"Predefined variables": CI_COMMIT_BEFORE_SHA is the commit before on the branch, also when a run is repeated, which uses no earlier artifacts', async () => {
  const run = async (...args: string[]) => {
    const { out } = await harness.run('--source', 'push', ...args);
    return /> before (.+)/.exec(out)?.[1];
  };
  await harness.git('switch', '-q', '-c', 'feature/before');
  await harness.commit({
    '.gitlab-ci.yml': `
stages: [build, test]
make: {stage: build, script: [test -z "$MADE" || echo made > made.txt], artifacts: {paths: [made.txt]}}
a: {stage: test, script: [echo "before $CI_COMMIT_BEFORE_SHA" *.txt]}
`,
  });
  const first = await harness.git('rev-parse', 'HEAD');
  expect(await run()).toBe(`${'0'.repeat(40)} *.txt`);
  await harness.commit({});
  expect([await run('--variable', 'MADE=yes'), await run()]).toEqual([`${first} made.txt`, `${first} *.txt`]);
  // The remote's version of the branch takes precedence.
  const begin = await harness.git('rev-parse', 'main');
  await harness.git('update-ref', 'refs/remotes/origin/feature/before', begin);
  expect(await run()).toBe(`${begin} *.txt`);
  await harness.git('update-ref', '-d', 'refs/remotes/origin/feature/before');
  await harness.git('switch', '-q', 'feature/a');
});

it('names the jobs that did not run with the reason, once', async () => {
  const { out } = await runJobs(
    `
stages: [build, test, deploy]
build: {stage: build, script: [exit 1]}
approve: {stage: build, when: manual, script: [echo hi]}
idle: {stage: build, needs: [], when: on_failure, script: [echo hi]}
unit: {stage: test, script: [echo hi]}
undo: {stage: test, when: on_failure, script: [echo hi]}
last: {stage: deploy, script: [echo hi]}
`,
  );
  expect(out.match(/^skipped '.*$/gm)).toEqual([
    "skipped 'approve': a manual job runs when it is started in the window, or with --job NAME",
    "skipped 'idle': no earlier job failed",
    "skipped 'unit', 'last': an earlier job failed or was skipped",
  ]);
});

describe('"trigger" and "Parent-child pipelines" (Downstream pipelines)', () => {
  const parent = (more: string) => `
stages: [build, test, deploy]
build: {stage: build, script: [echo made > out.txt], artifacts: {paths: [out.txt]}}
child:
  stage: test
  variables: {COLOR: green}
  trigger: {include: ci/child.yml${more}}
after: {stage: deploy, script: [echo hi]}
`;
  const child = (script: string) => `
stages: [one, two]
variables: {COLOR: red}
first: {stage: one, script: ['echo "$CI_JOB_NAME $COLOR $CI_PIPELINE_SOURCE"', echo x > x.txt], artifacts: {paths: [x.txt]}, rules: [{if: $CI_PIPELINE_SOURCE == "parent_pipeline"}]}
second: {stage: two, script: [test -e x.txt, '${script}'], rules: [{when: on_success}]}
never: {stage: two, script: [echo hi], rules: [{if: $CI_PIPELINE_SOURCE == "push"}]}
`;

  it('"trigger:strategy": with depend, the job waits for the child pipeline and has its result', async () => {
    await harness.write({ 'ci/child.yml': child('true') });
    const good = await runJobs(parent(', strategy: depend'));
    expect(good.states, good.out).toEqual([
      'build success',
      'child success',
      'after success',
      'child / first success',
      'child / second success',
    ]);
    expect(good.exitCode).toBe(0);
    expect(good.out).toContain('first green parent_pipeline');
    await harness.write({ 'ci/child.yml': child('exit 3') });
    const bad = await runJobs(parent(', strategy: depend'));
    expect(bad.exitCode).toBe(1);
    expect(bad.states).toEqual([
      'build success',
      'child failed',
      'after skipped',
      'child / first success',
      'child / second failed',
    ]);
  });

  it('"trigger:strategy": with depend, the job and what comes after it wait for a blocking manual job of the child pipeline', async () => {
    const child = (more: string) =>
      `a: {script: [echo hi]}\nb: {stage: deploy, script: [echo hi], rules: [{when: manual${more}}]}\n`;
    await harness.write({ 'ci/child.yml': child('') });
    const blocked = await runJobs(parent(', strategy: depend'));
    expect(blocked.exitCode).toBe(1);
    expect(blocked.states).toEqual([
      'build success',
      'child manual',
      'after skipped',
      'child / a success',
      'child / b manual',
    ]);
    const alone = await harness.run('--source', 'push', '--job', 'child / b');
    expect(alone.exitCode).toBe(2);
    expect(alone.err).toContain("a job of a child pipeline cannot be started alone: child / b. Start 'child'.");
    await harness.write({ 'ci/child.yml': child(', allow_failure: true') });
    const optional = await runJobs(parent(', strategy: depend'));
    expect(optional.exitCode, optional.out).toBe(0);
    expect(optional.states).toContain('after success');
  });

  it('a job that rules exclude is no job of a child pipeline, although its name begins like those', async () => {
    await harness.commit({
      'ci/child.yml': child('true'),
      '.gitlab-ci.yml': `${parent('')}child / eu: {script: [echo hi], rules: [{when: never}]}\nbuild / eu: {script: [echo hi], rules: [{when: never}]}\n`,
    });
    for (const name of ['child / eu', 'build / eu']) {
      const { exitCode, err } = await harness.run('--source', 'push', '--job', name);
      expect(exitCode).toBe(2);
      expect(err).toContain(`the pipeline has no job ${name}, by its rules, for push`);
    }
  });

  it('without strategy, the job succeeds, but the run does not when the child pipeline fails', async () => {
    await harness.write({ 'ci/child.yml': child('exit 3') });
    const { exitCode, states } = await runJobs(parent(''));
    expect(exitCode).toBe(1);
    expect(states).toEqual(expect.arrayContaining(['child success', 'after success', 'child / second failed']));
  });

  it('"trigger:include": the inputs of a child pipeline replace their defaults', async () => {
    const child = `spec: {inputs: {env: {default: production}}}
---
deploy: {script: ['echo "to $[[ inputs.env ]]"']}
`;
    await harness.write({ 'ci/inputs.yml': child });
    const include = '[{local: ci/inputs.yml, inputs: {env: staging}}]';
    const { out, exitCode } = await runJobs(`child: {trigger: {include: ${include}, strategy: depend}}\n`);
    expect(exitCode, out).toBe(0);
    expect(out).toContain('> to staging');
    const all = await runJobs('child: {trigger: {include: ci/inp*.yml, strategy: depend}}\n');
    expect(all.out).toContain('> to production');
  });

  it('"trigger:include": a child pipeline that cannot be created fails the job', async () => {
    await harness.write({ 'ci/child.yml': 'a: {script: [echo hi], rules: [{when: never}]}\n' });
    const { exitCode, out } = await runJobs(parent(', strategy: depend'));
    expect(exitCode).toBe(1);
    expect(out).toContain('the child pipeline could not be created: it has no jobs');
    await harness.git('rm', '-q', 'ci/child.yml');
    const missing = await runJobs(parent(''));
    expect(missing.exitCode).toBe(1);
    expect(missing.out).toContain('the child pipeline could not be created');
  });

  it('what differs in a child pipeline is named; what is refused is refused before the run, or fails the job if only the run creates it', async () => {
    const child = 'a: {script: [echo hi], services: [db], hooks: {pre_get_sources_script: [echo]}}\n';
    const refusal = "services of 'child / a': services need an image for the job";
    await harness.commit({ '.gitlab-ci.yml': parent(''), 'ci/child.yml': child });
    const { exitCode, out, err } = await harness.run('--source', 'push');
    expect(exitCode).toBe(2);
    expect(err).toContain(refusal);
    expect(out).not.toContain('starting');
    const forced = await runJobs(parent(''), '--force');
    expect(forced.exitCode).toBe(0);
    expect(forced.out).toContain("not as on GitLab: hooks of 'child / a': the scripts of hooks are not run");
    await harness.write({ 'child.yml': child });
    const result = await runJobs(`
stages: [build, test]
make: {stage: build, script: [cp child.yml made.yml], artifacts: {paths: [made.yml]}}
child: {stage: test, trigger: {include: [{artifact: made.yml, job: make}]}}
`);
    expect(result.exitCode).toBe(1);
    expect(result.out).toContain(`the child pipeline could not be created: ${refusal}`);
  });

  it('an error in a child pipeline names the files as its job includes them', async () => {
    const broken = 'a: {stage: test}\n';
    await harness.write({ 'ci/one.yml': 'variables: {A: b}\n', 'ci/two.yml': broken, 'made.yml': broken });
    const make = { stage: 'build', script: ['true'], artifacts: { paths: ['made.yml'] } };
    for (const [include, files] of [
      [[{ local: 'ci/one.yml' }, { local: 'ci/two.yml' }], 'ci/one.yml and ci/two.yml'],
      [[{ artifact: 'made.yml', job: 'make' }], "made.yml of 'make'"],
    ] as const) {
      const child = { stage: 'test', trigger: { include } };
      await harness.commit({ '.gitlab-ci.yml': JSON.stringify({ make, child }) });
      const { out, err } = await harness.run('--source', 'push');
      expect(out + err).toContain(`could not be created: ${files} cannot be read: a must have script`);
      expect(out + err).not.toContain('.git/');
    }
  });

  it('"Dynamic child pipelines" and "needs:pipeline:job": definition and artifacts are those of jobs of the parent, and each job has its log', async () => {
    const generatedJob = 'script: [cat given.txt], needs: [{pipeline: $$PARENT, job: make}]';
    const definition = `
stages: [build, test]
make:
  stage: build
  script: ['echo "made: {$TEXT}" > child.yml', echo hello > given.txt]
  variables: {TEXT: '${generatedJob}'}
  artifacts: {paths: [child.yml, given.txt]}
child:
  stage: test
  variables: {PARENT: $CI_PIPELINE_ID}
  trigger: {include: [{artifact: child.yml, job: make}], strategy: depend}
`;
    const { exitCode, out, states } = await runJobs(definition);
    expect(exitCode, out).toBe(0);
    expect(states).toEqual(['make success', 'child success', 'child / made success']);
    expect(out).toContain('> hello');
    const { scmUrl, scmToken } = harness.platform.emulator;
    const api = `${scmUrl}/api/v4/projects/fern-moss%2Fapp`;
    const read = (path: string) => fetch(`${api}/${path}`, { headers: { 'PRIVATE-TOKEN': scmToken } });
    const [{ id: newest }] = (await (await read('pipelines')).json()) as Body[];
    const jobs = (await (await read(`pipelines/${newest}/jobs`)).json()) as Body[];
    const traces = jobs.map(async ({ id }) => (await read(`jobs/${id}/trace`)).text());
    const last = (await Promise.all(traces)).map((trace) => trace.trim().split('\n').at(-1));
    expect(last).toEqual(states.map(() => expect.stringMatching(/^finished in \d/)));
  });

  it('"trigger:project": pipelines of other projects are refused', async () => {
    const { exitCode, err } = await harness
      .commit({ '.gitlab-ci.yml': 'other: {trigger: {project: fern-moss/other}}\n' })
      .then(() => harness.run());
    expect(exitCode).toBe(2);
    expect(err).toContain("trigger:project of 'other': pipelines of other projects are not run");
  });
});

it('"when: delayed": a job starts after its delay, which a canceled run does not wait for', async () => {
  const late = (more: string) => `late: {script: [exit 1], when: delayed, start_in: ${more}}\n`;
  const waited = await runJobs(`${late('2 seconds')}early: {script: [echo hi]}\n`);
  const [{ startedAtMs, jobs }]: Body[] = await harness.inspect('pipelines');
  expect(waited).toMatchObject({ exitCode: 1, states: ['late failed', 'early success'] });
  expect(jobs[0].startedAtMs - startedAtMs).toBeGreaterThanOrEqual(2_000);
  expect(await runJobs(late('30 minutes'), '--no-delay')).toMatchObject({
    exitCode: 1,
    out: expect.stringContaining('starts without its delay of 30 minutes'),
  });
  const canceled = harness.start(['run', harness.dir, '--project', 'fern-moss/app']);
  await canceled.waitForOutput('starts in 30 minutes');
  canceled.child.kill('SIGINT');
  expect((await canceled.ended).exitCode).toBe(130);
  expect((await harness.inspect('pipelines'))[0].jobs).toMatchObject([{ state: 'canceled' }]);
});

it('"default" and "inherit:default": retry and timeout of all jobs, unless a job has its own or inherits none', async () => {
  const { out } = await runJobs(
    `include: ci/more.yml
default: {retry: 1, timeout: 90s}
a: {script: [exit 1], allow_failure: true}
b: {script: [exit 1], allow_failure: true, retry: 0}
c: {script: [exit 1], allow_failure: true, inherit: {default: [timeout]}}
d: {script: [sleep 4711], allow_failure: true, retry: 0, timeout: 1s}
`.replace('include: ci/more.yml\n', ''),
  );
  expect(out).toMatch(/a .*retry 1 of 1/);
  expect(out).not.toMatch(/[bcd] .*retry 1 of 1/);
  expect(out).toContain('it exceeded its timeout of 1s');
});

it('"retry:when" and "retry:exit_codes": only such failures are tried again', async () => {
  const { out, exitCode } =
    await runJobs(`code: {script: [exit 3], retry: {max: 1, exit_codes: [3]}, allow_failure: true}
other-code: {script: [exit 4], retry: {max: 1, exit_codes: 3}, allow_failure: true}
script: {script: [exit 1], retry: {max: 1, when: script_failure}, allow_failure: true}
system: {script: [exit 1], retry: {max: 1, when: [runner_system_failure, api_failure]}, allow_failure: true}
late: {script: [sleep 4711], timeout: 1s, retry: {max: 1, when: job_execution_timeout}, allow_failure: true}
either: {script: [exit 3], retry: {max: 1, when: api_failure, exit_codes: 3}, allow_failure: true}
`);
  expect(exitCode).toBe(0);
  const retried = [...out.matchAll(/^.*?(\S+) +retry 1 of 1$/gm)].map(([, name]) => name);
  expect(retried.sort()).toEqual(['code', 'either', 'late', 'script']);
});

it('"allow_failure:exit_codes": any other exit code fails the pipeline', async () => {
  const job = (code: number) => `a: {script: [exit ${code}], allow_failure: {exit_codes: [3, 4]}}\n`;
  expect((await runJobs(job(4))).exitCode).toBe(0);
  expect((await runJobs(job(5))).exitCode).toBe(1);
});

it('"artifacts" and "cache": artifacts of this run replace files of a cache, and untracked files are kept', async () => {
  const definition = (version: number) => `stages: [build, test]
.kept: {cache: {key: k, paths: [out/]}}
build: {stage: build, script: ['mkdir -p out; echo ${version} > out/app'], artifacts: {paths: [out/]}}
test: {stage: test, extends: .kept, script: [cat out/app, 'cat made || echo none > made'], cache: {untracked: true}}
`;
  expect((await runJobs(definition(1))).out).toMatch(/test .*> 1$/m);
  const { out } = await runJobs(definition(2));
  expect(out).toMatch(/test .*> 2$/m);
  expect(out).toMatch(/test .*> none$/m);
});

it('"artifacts:reports:dotenv": a report that a server rejects fails the job', async () => {
  const job = "a: {script: ['echo \\# text > a.env'], artifacts: {reports: {dotenv: a.env}}}\n";
  const { out, exitCode } = await runJobs(job);
  expect(exitCode).toBe(1);
  expect(out).toContain('> line 1 of the dotenv report a.env is not NAME=value');
});

it('"rules:needs": the needs of a rule that does not match do not apply; files of gitlab-ci-local are ignored', async () => {
  await harness.commit({ '.gitlab-ci-local.yml': 'test: {rules: [{when: never}]}\n' });
  const { out, exitCode } = await runJobs(`stages: [build, test]
build: {stage: build, script: [echo made > made.txt], artifacts: {paths: [made.txt]}}
test: {stage: test, script: [cat made.txt, ls -a], rules: [{changes: [docs/**/*], needs: []}, {when: on_success}]}
.early: &early {needs: []}
early: {stage: test, <<: *early, script: [test ! -e made.txt], rules: [{changes: [docs/**/*], needs: [build]}, {when: on_success}]}
`);
  expect(exitCode).toBe(0);
  expect(out).toMatch(/test .*> made$/m);
  expect(out).toMatch(/test .*> \.gitlab-ci-local\.yml$/m);
  await harness.git('rm', '-q', '.gitlab-ci-local.yml');
});

it('"include:rules": $CI_COMMIT_BRANCH is not set in a merge request pipeline', async () => {
  await harness.commit({ 'ci/branch.yml': 'of-branch: {script: [echo hi]}\n' });
  const definition = `include: [{local: ci/branch.yml, rules: [{if: $CI_COMMIT_BRANCH}]}]
workflow: {rules: [{when: always}]}
a: {script: [echo hi]}
`;
  const { states } = await runDefinition(definition, '--source', 'merge_request_event');
  expect(states).toEqual(['a success']);
  expect((await runJobs(definition)).states.sort()).toEqual(['a success', 'of-branch success']);
});

it('"needs:parallel:matrix": a job waits for these parallel jobs only', async () => {
  const build = `build:
  stage: build
  script: ['echo made > $SIZE-$SHAPE', 'test $SIZE != l']
  artifacts: {paths: ['*-*'], when: always}
  parallel: {matrix: [{SIZE: [s, l], SHAPE: [round, square]}]}
`;
  const needs = 'needs: [{job: build, parallel: {matrix: [{SIZE: s, SHAPE: [round, square]}]}}]';
  const { states, exitCode } = await runJobs(
    `${build}check: {stage: test, ${needs}, script: [test -e s-round, test ! -e l-round]}\n`,
  );
  expect(exitCode).toBe(1);
  expect(states).toContain('check success');
  const none = 'needs: [{job: build, parallel: {matrix: [{SIZE: xl, SHAPE: round}]}}]';
  const refused = await runJobs(`${build}check: {stage: test, ${none}, script: [echo hi]}\n`);
  expect(refused.exitCode).toBe(2);
  expect(refused.out).toContain("job 'check' needs 'build', which has no parallel job with these values");
});

it('"Git strategy" and "Shallow cloning" (Configuring runners): no checkout, and as many commits as asked', async () => {
  for (let n = 0; n < 25; n++) await harness.commit({ n: String(n) });
  const count = (depth: string, expectedCount: number) =>
    `{variables: {GIT_DEPTH: "${depth}"}, script: ['test "$(git rev-list --count HEAD)" -eq ${expectedCount}']}`;
  const jobs = (all: number) => `none: {variables: {GIT_STRATEGY: none}, script: ['test -z "$(ls -A)"']}
one: ${count('1', 1)}
three: ${count('3', 3)}
many: ${count('22', 22)}
usual: {script: ['test "$(git rev-list --count HEAD)" -ge 20']}
${all > 0 ? `all:\n  variables:\n    GIT_DEPTH: "0"\n  script: ['test "$(git rev-list --count HEAD)" -ge 26']\n` : ''}`;
  for (const all of [0, 1]) {
    const { exitCode, out } = await runJobs(
      jobs(all)
        .replaceAll('{variables: {GIT_DEPTH: "22"}, script:', '\n  variables:\n    GIT_DEPTH: "22"\n  script:')
        .replaceAll("22']}", "22']"),
    );
    expect(exitCode, out).toBe(0);
  }
});

it('"only:refs" and "CI_COMMIT_TAG" (Predefined variables): a tag has a pipeline of its own', async () => {
  const definition = `release: {only: [tags], script: ['test "$CI_COMMIT_TAG" = v1.0', 'test -z "$CI_COMMIT_BRANCH"', git describe --exact-match --tags]}
by-rule: {rules: [{if: $CI_COMMIT_TAG}], script: [echo hi]}
of-branches: {only: [branches], script: [exit 1]}
`;
  await harness.commit({ '.gitlab-ci.yml': definition });
  await harness.git('tag', 'v1.0');
  const { exitCode, out, err } = await harness.run('--branch', 'v1.0');
  expect(exitCode, `${out}${err}`).toBe(0);
  const [{ jobs }] = await harness.inspect('pipelines');
  expect(jobs.map(({ name }: Body) => name)).toEqual(['release', 'by-rule']);
});

it('"only:refs": sources in the singular are no branches', async () => {
  const definition = `nightly: {only: [schedule], script: [echo hi]}
review: {only: [merge_request], script: [echo hi]}
push: {only: [push], script: [echo hi]}
web: {only: [web], script: [echo hi]}
never: {only: [trigger, api, pipeline], script: [exit 1]}
`;
  for (const [source, job] of [
    ['schedule', 'nightly'],
    ['merge_request_event', 'review'],
    ['push', 'push'],
    ['web', 'web'],
  ] as const)
    expect(await runDefinition(definition, '--source', source)).toMatchObject({
      exitCode: 0,
      states: [`${job} success`],
    });
});

it('"Types of manual jobs" (Control how jobs run): a manual job that blocks the pipeline is no success', async () => {
  const gate = (more: string) => `gate: {stage: build, script: [echo hi], rules: [{when: manual${more}}]}
after: {stage: test, script: [echo hi]}
`;
  const blocked = await runJobs(gate(''));
  expect(blocked.exitCode).toBe(1);
  expect(blocked.out).toContain("the pipeline is blocked by 'gate'");
  expect(await runJobs(gate(', allow_failure: true'))).toMatchObject({
    exitCode: 0,
    states: ['gate manual', 'after success'],
  });
});

describe('a deployment that the lambda rejects', () => {
  const call = (payload: string) =>
    `curl -s -u "$PLATFORM_API_KEY:$PLATFORM_API_SECRET" -H "Content-Type: application/json" -d '${payload}' "$PLATFORM_DEPLOY_URL"`;

  it('fails the run, although no job took notice of it', async () => {
    const definition = `deploy:\n  script:\n    - |\n      ${call('{"ref": "main"}')}\n`;
    const { exitCode, out, states } = await runJobs(definition);
    expect({ exitCode, states }).toEqual({ exitCode: 1, states: ['deploy success'] });
    expect(out).toContain('no job failed, but a deployment was rejected: missing: org, env');
  });
});

it('shows each command on a line of its own, also after output without a newline at its end', async () => {
  const { out } = await runJobs("a: {script: ['printf foo', 'echo next', 'printf bar']}\n");
  expect(out).not.toContain('\u0001');
  expect(out).toMatch(/> foo\n.*\$ echo next\n.*> next\n.*\$ printf bar\n.*> bar\n/);
});

describe('a definition that would take for ever', () => {
  const many = (name: string) => Array.from({ length: 300 }, (_, at) => `${name}${at}`).join();
  const bomb = ['x0: &x0 [l,l,l,l,l,l,l,l,l]'];
  for (let n = 1; n < 9; n++) bomb.push(`x${n}: &x${n} [${Array.from({ length: 9 }, () => `*x${n - 1}`)}]`);
  it.each([
    ['a: {script: [echo hi], parallel: 1000000}\n', 'becomes 1000000 parallel jobs, but the maximum is 200'],
    [
      `.a: {parallel: {matrix: [{A: [${many('a')}], B: [${many('b')}]}]}}\na: {extends: .a, script: [echo hi]}\n`,
      'becomes 90000 parallel jobs, but the maximum is 200',
    ],
    [`${bomb.join('\n')}\na: {script: *x8}\n`, 'its aliases expand to more'],
  ])('is refused before it is read, and the key of the run is revoked', async (definition, why) => {
    await harness.commit({ '.gitlab-ci.yml': definition });
    const { exitCode, err } = await harness.run();
    expect({ exitCode, err }).toEqual({ exitCode: 2, err: expect.stringContaining(why) });
    expect(JSON.stringify(await harness.inspect('access'))).not.toContain('ci-service');
  });

  it('a pattern with nested repetitions takes no longer than others', async () => {
    const { exitCode } = await runJobs(
      `variables: {TEXT: ${'a'.repeat(60)}!}\na: {script: [echo hi], rules: [{if: '$TEXT =~ /^(a+)+$/', when: never}, {when: always}]}\n`,
    );
    expect(exitCode).toBe(0);
  });
});

it('"artifacts:reports:junit", "coverage" and "coverage_report": results are in the record; artifacts are listed and copied', async () => {
  const cobertura = 'reports: {coverage_report: {coverage_format: cobertura, path: cobertura.xml}}';
  await runJobs(`a:
  script:
    - mkdir -p out/empty && echo made > out/a.txt
    - printf '<testsuite><testcase name="adds"><failure/></testcase><testcase name="b"/></testsuite>' > out/junit.xml
    - echo 'Coverage 12%' && echo 'Coverage 81.5% of 3'
    - exit 1
  coverage: '/Coverage \\d+(\\.\\d+)?%/'
  artifacts: {when: always, paths: [out], reports: {junit: out/*.xml}}
b: {script: ["echo '<coverage line-rate=\\"0.5\\">' > cobertura.xml"], artifacts: {${cobertura}}}
`);
  const [{ id, jobs }]: Body[] = await harness.inspect('pipelines');
  expect(jobs).toMatchObject([
    { state: 'failed', coverage: 81.5, tests: { total: 2, failed: 1, skipped: 0, failing: ['adds'] } },
    { state: 'success', coverage: 50 },
  ]);
  const listed = await harness.start(['artifacts', id]).ended;
  expect(listed, listed.err).toMatchObject({
    exitCode: 0,
    out: expect.stringMatching(/^a {2}out\/a\.txt +5 bytes\na {2}out\/junit\.xml/),
  });
  const to = join(harness.folder, 'copied');
  const copied = await harness.start(['artifacts', id, 'a', '--output', to]).ended;
  expect(copied.exitCode, copied.err).toBe(0);
  expect(await readFile(join(to, 'out', 'a.txt'), 'utf8')).toBe('made\n');
  expect(await harness.start(['artifacts', id, 'none']).ended).toMatchObject({
    err: expect.stringContaining("has no job 'none'"),
  });
});

it('"Custom collapsible sections" (Job logs): markers are not shown, and colors are not printed to a pipe', async () => {
  const section = (markerType: string, more = '') =>
    `printf '\\033[0Ksection_${markerType}:1:fetch${more}\\r\\033[0K%s\\n'`;
  const { out } = await runJobs(
    JSON.stringify({
      a: {
        script: [
          `${section('start', '[collapsed=true]')} 'Fetch it'`,
          "printf '\\033[31mred\\033[0m\\n'",
          `${section('end')} ''`,
        ],
      },
    }),
  );
  const printed = out.split('\n').flatMap((line) => /\] a {2}(> ?.*)$/.exec(line)?.[1] ?? []);
  expect(printed, out).toEqual(['> Fetch it', '> red']);
});

describe('"Merge request pipelines": without --source,', () => {
  const BOTH = `
stages: [test, review]
unit: {stage: test, script: [exit 1]}
docs: {stage: test, script: [echo hi]}
review: {stage: review, rules: [{if: $CI_MERGE_REQUEST_IID}], script: [echo hi]}
`;

  it('a branch gets its merge request pipeline and its branch pipeline, which the output names first', async () => {
    const { exitCode, out } = await runDefinition(BOTH);
    expect(out).toContain(
      "runs the merge request pipeline (merge_request_event) of 'feature/a': review. The branch pipeline (push) runs after it: unit, docs. To run only one, set --source.",
    );
    const [second, first]: Body[] = await harness.inspect('pipelines');
    expect([first, second]).toMatchObject([
      { source: 'merge_request_event', state: 'success', jobs: [{ name: 'review' }] },
      { source: 'push', state: 'failed', jobs: [{ name: 'unit' }, { name: 'docs' }] },
    ]);
    expect(exitCode).toBe(1);
  });

  it('rules of the workflow can exclude the branch pipeline, and --job runs one pipeline only', async () => {
    const count = async () => (await harness.inspect('pipelines')).length;
    const workflow =
      'workflow: {rules: [{if: $CI_PIPELINE_SOURCE == "push" && $CI_OPEN_MERGE_REQUESTS, when: never}, {when: always}]}';
    const before = await count();
    const alone = await runDefinition(`${workflow}\na: {script: [echo hi]}\n`);
    expect(alone.out).toContain(
      "runs the merge request pipeline (merge_request_event) of 'feature/a': a. The branch pipeline (push) has no jobs.",
    );
    const selected = await runDefinition(BOTH, '--job', 'docs');
    expect(selected.out).toContain('runs the branch pipeline (push): the merge request pipeline does not have docs');
    expect([alone.exitCode, selected.exitCode, await count()]).toEqual([0, 0, before + 2]);
  });
});
