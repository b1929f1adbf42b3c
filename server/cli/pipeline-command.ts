import { constants } from 'node:os';
import { resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { deliveryRoutes } from '../api/routes/delivery.ts';
import { UserError } from '../platform/config.ts';
import { artifactFiles, copyPaths, storedArtifacts } from '../runtimes/pipelines/artifacts.ts';
import { findingText } from '../runtimes/pipelines/keywords.ts';
import { CANCELED, PipelineError } from '../runtimes/pipelines/pipeline-error.ts';
import type { PipelinePlan, PipelineRequest, PlanOfJob, PlanOfJobs } from '../runtimes/pipelines/pipeline-request.ts';
import { onChanges, readRepository } from '../runtimes/pipelines/repository.ts';
import { type PipelineRetry, retryRequest } from '../runtimes/pipelines/retry-request.ts';
import { type PipelineSource, SOURCES } from '../runtimes/pipelines/rules.ts';
import {
  SAMPLE_BRANCH,
  SAMPLE_DIR,
  SAMPLE_PROJECT,
  withSampleRepository,
} from '../runtimes/pipelines/sample-repository.ts';
import { stopBranch } from '../runtimes/pipelines/stop-branch.ts';
import { packageFile } from '../system/package-file.ts';
import {
  type Context,
  defineCommand,
  flag,
  json,
  text,
  textAs,
  textOr,
  texts,
  unless,
  type ValuesOf,
} from './command.ts';
import { ExitWith } from './describe-failure.ts';
import { commandOn, localConfig, platformOptions } from './instance-options.ts';
import { PipelineScreen } from './pipeline-screen.ts';
import { STOP_SIGNALS, type StopSignal } from './stop-signal.ts';
import { rowLines, type Terminal } from './terminal.ts';

const NOTES = `
Runs the commit's .gitlab-ci.yml on this machine: the merge request pipeline of the branch and then its branch pipeline, each if it has
jobs; on the default branch and for a tag only the latter. Each job runs in a copy of a separate checkout, in its image if a container engine responds. Creates the merge request
and the environments in the mock GitLab, shows the jobs in the window, and ends when the app responds.
Precedence of variables: --variable, the project's variables in the mock GitLab, values for the platform, the definition's variables,
predefined variables (CI_...).`;

/** Options of a pipeline or of one of its jobs. */
const runOptions = {
  org: textOr('--org <NAME>', 'organization to deploy to', 'demo'),
  environment: text('--environment <ENVIRONMENT>', 'environment to deploy to: ID, name or workspace/name'),
  api: text('--api <API>', 'API that publishes the app: ID or name'),
  account: textOr('--account <NAME>', 'user that the pipeline acts as', 'ci-service'),
  variable: texts('--variable <NAME=VALUE>', 'set a variable (repeatable)'),
  force: flag('--force', 'run the definition even if Terrarium rejects some of its keywords'),
  shell: flag('--shell', 'run all jobs directly on this machine, even jobs with an image'),
  expect: texts(
    '--expect <PATH=STATUS>',
    'status with which a path of the app has to respond (repeatable; default: 2xx or 3xx)',
  ),
  delays: unless('--no-delay', 'start delayed jobs at once'),
  waits: unless('--no-wait', 'end after the jobs, without waiting for the app to respond'),
  ...platformOptions,
  json: json('print the record of the run as JSON'),
};
const planOptions = {
  source: textAs('--source <SOURCE>', `source of the pipeline: ${SOURCES.join(', ')}`, sourceIn),
  job: texts('--job <NAME>', 'run this job only, even a manual one (repeatable)'),
  ...runOptions,
};

const RUN_ARGUMENT = ['<run>', 'ID of the run, from `pipeline list`'] as const;
const REPOSITORY_OPTIONS = {
  branch: text('--branch <NAME>', 'name of the branch or tag (default: the branch that is checked out)'),
  project: text(
    '--project <PATH>',
    'project in the mock GitLab, such as fern-moss/shop (default: the project that origin names)',
  ),
  workingTree: flag('--working-tree', 'include uncommitted changes, in a temporary commit'),
};

function planCommand(name: 'plan' | 'lint', description: string) {
  return defineCommand({
    name,
    description,
    arguments: [['[dir]', 'the repository', '.']],
    options: {
      ...REPOSITORY_OPTIONS,
      ...planOptions,
      list: flag('--list', 'print only the names of the jobs'),
      json: json('print the plan as JSON'),
    },
    async run({ options, terminal, connect }, folder = '.') {
      const repository = await readRepository(resolve(terminal.folder, folder), options.branch);
      const { planPipeline } = await import('../runtimes/pipelines/run-pipeline.ts');
      const platform = await connect();
      const plan = await untilCanceled(terminal, (signal) =>
        planPipeline(
          { ...requestOf(options), repository, isKept: true },
          { platform, env: terminal.env, signal, reportLine: terminal.complain },
        ),
      );
      const jobs = allJobs(plan);
      const [problem] = jobs.flatMap(({ name, child }) =>
        child && 'problem' in child ? `the child pipeline of '${name}' cannot be created: ${child.problem}` : [],
      );
      const isShownValid = name === 'lint' && problem === undefined;
      if (options.json) terminal.print(JSON.stringify(plan));
      else
        for (const line of options.list ? jobs.map((job) => job.name) : linesOfPlan(plan, isShownValid))
          terminal.print(line);
      if (problem !== undefined) throw new ExitWith(2, problem);
      const refused = plan.findings.filter(({ state }) => state === 'refused');
      if (refused.length > 0 && !options.force)
        throw new ExitWith(
          2,
          `the definition uses ${refused.map((finding) => finding.name).join(', ')}, which \`pipeline run\` rejects without --force`,
        );
    },
  });
}

function* linesOfPlan(
  { source, branch, sha, findings, ...plan }: PipelinePlan,
  isShownValid: boolean,
): Generator<string, void> {
  for (const finding of findings)
    yield `${finding.state === 'refused' ? 'rejected' : 'not as on GitLab'}: ${findingText(finding)}`;
  if (isShownValid)
    yield `the definition of '${branch}' (${sha.slice(0, 8)}) is valid: ${plan.jobs.length} ${plan.jobs.length === 1 ? 'job' : 'jobs'} in a ${source} pipeline`;
  yield `${source} pipeline of '${branch}' (${sha.slice(0, 8)}):`;
  yield* linesOfJobs(plan, '  ');
}

function* linesOfJobs({ jobs, leftOut }: PlanOfJobs, indent: string): Generator<string, void> {
  for (const { name, stage, when, image, needs: needed, decision, services, child, ...job } of jobs) {
    const needs = needed ? `, needs ${needed.join(', ') || 'no job'}` : '';
    const where = child ? 'starts a child pipeline' : image === undefined ? 'on this machine' : `in ${image}`;
    yield `${indent}${stage} / ${name}: ${when}, ${where}${needs}`;
    if (decision !== undefined) yield `${indent}    ${decision}`;
    if (services) yield `${indent}    services: ${services.join(', ')}`;
    const variables = Object.entries(job.variables);
    if (variables.length > 0) yield `${indent}    variables:`;
    for (const [key, value] of variables) yield `${indent}      ${key}=${value.replaceAll('\n', '\\n')}`;
    if (!child) continue;
    if ('jobs' in child) yield* linesOfJobs(child, `${indent}  `);
    else if ('problem' in child) yield `${indent}    cannot be created: ${child.problem}`;
    else yield `${indent}    its jobs are known when the job that creates the definition has run`;
  }
  for (const job of leftOut)
    yield `${indent}not run: ${job.name}${job.decision === undefined ? '' : `, ${job.decision}`}`;
}

/** The jobs of a plan, each followed by those of its child pipeline. */
function allJobs({ jobs }: PlanOfJobs): PlanOfJob[] {
  return jobs.flatMap((job) => [job, ...(job.child && 'jobs' in job.child ? allJobs(job.child) : [])]);
}

export const pipelineCommand = defineCommand({
  name: 'pipeline',
  description: 'run pipelines that deploy to the platform',
  commands: [
    defineCommand({
      name: 'run',
      description: "run a repository's pipeline for a branch",
      arguments: [['[dir]', 'the repository', '.']],
      options: {
        ...REPOSITORY_OPTIONS,
        ...planOptions,
        watch: flag('--watch', 'run again when files change; includes uncommitted changes'),
      },
      notes: NOTES,
      async run(context, folder = '.') {
        const { options, terminal } = context;
        const dir = resolve(terminal.folder, folder);
        const readRequest = async () => ({
          ...requestOf(options),
          takesWorkingTree: options.workingTree || options.watch,
          repository: await readRepository(dir, options.branch),
          isKept: true,
        });
        await run(context, readRequest, options.watch ? dir : undefined);
      },
    }),
    planCommand('plan', 'show which jobs a run would have, and what is not as on GitLab'),
    planCommand('lint', 'check a definition, and show what is not as on GitLab'),
    defineCommand({
      name: 'list',
      description: 'list the runs, newest first',
      options: { ...platformOptions, json: json('print the records as JSON') },
      async ask(client) {
        const runs = await client.ask(deliveryRoutes.listPipelineRuns);
        const rows = runs.map(({ id, state, startedAtMs, project, branch, sha, jobs }) => {
          const done = jobs.filter((job) => job.state === 'success').length;
          const count = jobs.filter((job) => job.state !== 'manual').length;
          const runLabel = `${project.path} ${branch} ${sha.slice(0, 8)}`;
          return [id, state, new Date(startedAtMs).toISOString(), runLabel, `${done} of ${count} jobs succeeded`];
        });
        return { answer: runs, lines: rowLines(rows) };
      },
    }),
    commandOn(RUN_ARGUMENT, 'logs', 'print the log of a run', async (client, id) => {
      const { log } = await client.ask(deliveryRoutes.readPipelineRun, { path: { pipeline_id: id } });
      return { answer: log, lines: log };
    }),
    defineCommand({
      name: 'artifacts',
      description: 'list or copy the artifacts of a run: those of the newest run of its commit on this machine',
      arguments: [RUN_ARGUMENT, ['[job]', 'only those of this job']],
      options: {
        output: text('--output <DIR>', 'copy the files into this folder'),
        ...platformOptions,
        json: json('print the list as JSON'),
      },
      async ask(platform, { options, terminal }, id = '', jobName) {
        const run = await platform.ask(deliveryRoutes.readPipelineRun, { path: { pipeline_id: id } });
        const { url } = await platform.ask(deliveryRoutes.readScm);
        const names = run.jobs.map(({ name }) => name).filter((name) => jobName === undefined || name === jobName);
        if (names.length === 0) throw new UserError(`run ${id} has no job '${jobName}'`);
        const all = await Promise.all(
          names.map(async (job) => {
            const dir = storedArtifacts(`${url}/${run.project.path}`, run.sha, job);
            return { job, dir, files: await artifactFiles(dir) };
          }),
        );
        const found = all.flatMap(({ job, files }) => files.map((file) => ({ job, ...file })));
        const target = options.output === undefined ? undefined : resolve(terminal.folder, options.output);
        for (const { dir, files } of all) {
          const paths = files.map(({ path }) => path);
          if (dir !== undefined && target !== undefined) await copyPaths(dir, target, paths);
        }
        const rows = found.map(({ job, path, bytes }) => [job, path, `${bytes} bytes`]);
        return { answer: found, lines: rows.length === 0 ? ['no artifacts'] : rowLines(rows) };
      },
    }),
    commandOn(RUN_ARGUMENT, 'cancel', 'cancel a run that the window or a push started', async (client, id) => {
      const answer = await client.ask(deliveryRoutes.stopPipelineRun, { path: { pipeline_id: id } });
      return { answer, lines: [`run ${id} is being canceled`] };
    }),
    defineCommand({
      name: 'demo',
      description: "run the sample app's pipeline, without a repository; the app gets a URL",
      options: {
        branch: textOr('--branch <NAME>', 'name of the feature branch', SAMPLE_BRANCH),
        project: textOr('--project <PATH>', 'project in the mock GitLab', SAMPLE_PROJECT),
        ...planOptions,
      },
      notes: NOTES,
      run: (context) =>
        withSampleRepository(packageFile(SAMPLE_DIR), context.options.branch, (repository) =>
          run(context, async () => ({ ...requestOf(context.options), repository, isKept: false })),
        ),
    }),
    defineCommand({
      name: 'retry',
      description: 'run one job of an earlier run again, with the same commit',
      arguments: [
        ['<run>', 'ID of the run, from the window or from pipeline run --json'],
        ['<job>', 'name of the job'],
      ],
      options: runOptions,
      notes: NOTES,
      async run(context, id = '', job = '') {
        const request = { id, job, sampleDir: packageFile(SAMPLE_DIR) };
        await retryRequest(await context.connect(), request, ({ repository, request: retried }: PipelineRetry) =>
          run(context, async () => {
            const typedOptions = requestOf(context.options);
            return { ...typedOptions, repository, ...retried, typed: { ...retried.typed, ...typedOptions.typed } };
          }),
        );
      },
    }),
    defineCommand({
      name: 'stop',
      description: "remove a branch's app, even if the branch no longer exists",
      options: {
        branch: textOr('--branch <NAME>', 'name of the branch'),
        project: text('--project <PATH>', 'project in the mock GitLab (default: the project of the newest run)'),
        account: textOr('--account <NAME>', 'user that the command acts as', 'ci-service'),
        ...platformOptions,
      },
      async ask(client, { options: { branch, project, account } }) {
        const answer = await stopBranch(client, { branch, project, account });
        const containerNote = answer.container ? `: container ${answer.container}` : '';
        return { answer, lines: [`the app of '${branch}' is stopped${containerNote}`] };
      },
    }),
  ],
});

type RunOptions = ValuesOf<typeof runOptions> &
  Partial<ValuesOf<typeof planOptions>> & {
    project?: string | undefined;
    workingTree?: boolean;
  };

function requestOf(options: RunOptions): Omit<PipelineRequest, 'repository' | 'isKept'> {
  const { project, source, org, environment, api, account } = options;
  return {
    project,
    source,
    target: { org, environment, api, account },
    typed: parseVariables(options.variable),
    only: options.job ?? [],
    takesWorkingTree: options.workingTree === true,
    usesShell: options.shell,
    isForced: options.force,
    delays: options.delays,
    waits: options.waits,
    expected: options.expect.map(expectationIn),
  };
}

async function run(
  { options, terminal, connect }: Pick<Context, 'terminal' | 'connect'> & { options: RunOptions },
  readRequest: () => Promise<PipelineRequest>,
  /** Folder in which changes start a run again. */
  watched?: string,
): Promise<void> {
  const { json: isJson } = options;
  const platform = await connect();
  const { engine: containerEngine } = localConfig(options, terminal).containers;
  const runOnce = async (signal: AbortSignal) => {
    const request = await readRequest();
    const { branch } = request.repository;
    const printLines = isJson ? terminal.complain : terminal.print;
    // Loaded only now: no other command needs it.
    const { runPipelines } = await import('../runtimes/pipelines/run-pipeline.ts');
    const screen = terminal.hasColour && !isJson ? new PipelineScreen(terminal) : undefined;
    const output = screen ?? { reportLine: (line: string) => printLines(stripVTControlCharacters(line)) };
    const ends = await runPipelines(request, { platform, env: terminal.env, containerEngine, signal, ...output });
    for (const { id } of ends) {
      screen?.summarize(await platform.ask(deliveryRoutes.readPipelineRun, { path: { pipeline_id: id } }));
      if (isJson) terminal.print(await platform.text('GET', `/inspect/pipelines/${id}`));
    }
    if (ends.some(({ exitCode }) => exitCode === CANCELED))
      throw new PipelineError(`the pipeline of '${branch}' was cancelled`, CANCELED);
    const failed = ends.find(({ exitCode }) => exitCode !== 0);
    if (failed) throw new ExitWith(failed.exitCode, `the pipeline of '${branch}' failed. The log above shows why.`);
    const appUrl = ends.findLast((end) => end.appUrl !== undefined)?.appUrl;
    if (appUrl !== undefined && !isJson) printLines(`the app of '${branch}' is at ${appUrl}`);
  };
  await untilCanceled(terminal, async (signal) => {
    if (watched === undefined) return runOnce(signal);
    await onChanges(watched, signal, async () => {
      await runOnce(signal).catch((failure) => {
        if (!(failure instanceof ExitWith || failure instanceof PipelineError)) throw failure;
        if (!signal.aborted) terminal.complain(failure.message);
      });
      if (!signal.aborted) terminal.complain(`watching ${watched} for changes. To stop, press Ctrl+C.`);
    });
  });
}

/** Runs until a signal cancels it; the exit code is that of the signal or failure. A second signal does not cut the clean-up short. */
async function untilCanceled<T>(terminal: Terminal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  let exitCode: number | undefined;
  const cancel = (signal: StopSignal) => {
    exitCode = 128 + constants.signals[signal];
    stop.abort();
  };
  for (const signal of STOP_SIGNALS) terminal.signals.on(signal, cancel);
  try {
    return await work(stop.signal);
  } catch (failure) {
    if (failure instanceof Error && 'exitCode' in failure && !(failure instanceof ExitWith))
      throw new ExitWith(exitCode ?? Number(failure.exitCode), failure.message);
    throw failure;
  } finally {
    for (const signal of STOP_SIGNALS) terminal.signals.off(signal, cancel);
  }
}

function sourceIn(text: string): PipelineSource {
  const source = SOURCES.find((candidate) => candidate === text);
  if (source) return source;
  throw new UserError(`invalid --source '${text}'. Valid values: ${SOURCES.join(', ')}`);
}

function expectationIn(text: string): { path: string; status: number } {
  const [, path, status] = /^(\/.*)=([1-5]\d\d)$/.exec(text) ?? [];
  if (path === undefined) throw new UserError(`--expect '${text}' is not PATH=STATUS, such as /health=200`);
  return { path, status: Number(status) };
}

function parseVariables(assignments: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    assignments.map((text) => {
      const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
      if (name === undefined || value === undefined) throw new UserError(`--variable '${text}' is not NAME=VALUE`);
      return [name, value];
    }),
  );
}
