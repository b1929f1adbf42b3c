import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { UserError } from '../config.ts';
import { masked } from '../model/masked-text.ts';
import type { PipelineJob, PipelineProgress, PipelineStart } from '../model/pipeline-run.ts';
import { STARTED_BY } from './demo-pipeline.ts';
import { ExitWith, NO } from './exit-with.ts';
import { addPlatformOptions, connect, textOption } from './instance-options.ts';
import { type JobVariable, plainVariable, projectVariables } from './job-variables.ts';
import { PipelineOutput } from './pipeline-output.ts';
import { PipelineProcess } from './pipeline-process.ts';
import { askedFor, makePipelineKey, targetIn, targetVariables } from './pipeline-variables.ts';
import type { PlatformClient } from './platform-client.ts';
import { type Repository, readRepository } from './repository.ts';
import { withSampleRepository } from './sample-repository.ts';
import { ScmClient, type ScmProjectRecord } from './scm-client.ts';
import type { Terminal } from './terminal.ts';

/** How often the platform is told how a run goes on. */
const TELL_EVERY_MS = 500;

const SAMPLE_BRANCH = 'feature/ferns';
const SAMPLE_PROJECT = 'fern-moss/shop';

const NOTES = `
Runs the repository's .gitlab-ci.yml as it stands, on this machine, and hands its result to the platform: makes the merge request and the
review environment in the source-control stand-in, fills the pipeline's variables, and tells the window how the jobs get on.
Variables: those given with --variable, then those of the project in the stand-in, then what fits the platform.`;

/** `terrarium pipeline run DIR --branch NAME`: a feature branch through its own pipeline, on this machine; `demo`: the sample app's. */
export function addPipelineCommand(program: Command, terminal: Terminal): void {
  const pipeline = program.command('pipeline').description('run pipelines that deploy to the platform');
  const command = addRunOptions(
    pipeline
      .command('run')
      .description("run a repository's pipeline for a branch")
      .argument('<dir>', 'the repository')
      .requiredOption('--branch <NAME>', 'the branch, which has to be checked out')
      .option('--project <PATH>', 'project in the source-control stand-in, e.g. fern-moss/shop'),
  ).action(async (folder: string) => {
    const client = await connect(command, terminal);
    const branch = textOption(command, 'branch') ?? '';
    const repository = await readRepository(resolve(terminal.folder, folder), branch);
    await runPipeline({ command, terminal, client, branch, repository });
  });
  const demo = addRunOptions(
    pipeline
      .command('demo')
      .description("run the sample app's pipeline: an app behind an address, without a repository of one's own")
      .option('--branch <NAME>', 'name of the feature branch', SAMPLE_BRANCH)
      .option('--project <PATH>', 'project in the source-control stand-in', SAMPLE_PROJECT),
  ).action(async () => {
    const client = await connect(demo, terminal);
    const branch = textOption(demo, 'branch') ?? SAMPLE_BRANCH;
    await withSampleRepository(branch, async (repository) => {
      await runPipeline({ command: demo, terminal, client, branch, repository });
    });
  });
}

/** What both ways to run a pipeline can be told. */
function addRunOptions(command: Command): Command {
  command
    .option('--org <NAME>', 'organization to deploy to', 'demo')
    .option('--environment <ENVIRONMENT>', 'environment there: id, name or workspace/name')
    .option('--api <API>', 'API there that publishes the app: id or name')
    .option('--account <NAME>', 'user that the pipeline acts as', 'ci-service')
    .option('--variable <NAME=VALUE>', 'one more variable (repeatable)', collect, [])
    .option('--job <NAME>', 'run this job only, even a manual one (repeatable)', collect, []);
  return addPlatformOptions(command, 'print the record of the run as JSON').addHelpText('after', NOTES);
}

const scmSchema = z.looseObject({ apiUrl: z.string(), token: z.string() });
const runSchema = z.looseObject({ id: z.string() });

interface RunOptions {
  command: Command;
  terminal: Terminal;
  client: PlatformClient;
  branch: string;
  repository: Repository;
}

async function runPipeline({ command, terminal, client, branch, repository }: RunOptions): Promise<void> {
  const say = command.getOptionValue('json') === true ? terminal.complain : terminal.print;
  const { apiUrl, token } = await client.json('GET', '/inspect/scm', scmSchema);
  const scm = new ScmClient(apiUrl, token);
  const path = textOption(command, 'project') ?? repository.originPath ?? `local/${basename(repository.dir)}`;
  const project = await scm.ensureProject(path);
  const mergeRequest = await scm.ensureMergeRequest(project, branch, repository.title);
  await scm.ensureReviewEnvironment(project, branch);

  const account = textOption(command, 'account') ?? '';
  const key = await makePipelineKey(client, account);
  try {
    const ofProject = projectVariables(await scm.variables(project), { branch, defaultBranch: project.default_branch });
    if (ofProject.withheld.length > 0) {
      say(`kept for '${project.default_branch}', which is protected: ${ofProject.withheld.join(', ')}`);
    }
    const typed = parseVariables(listOption(command, 'variable'));
    const common = {
      ...(await targetVariables(client, {
        org: textOption(command, 'org') ?? '',
        environment: textOption(command, 'environment'),
        api: textOption(command, 'api'),
      })),
      PLATFORM_API_KEY: key.key,
      PLATFORM_API_SECRET: key.secret,
      SCM_PROJECT_ID: String(project.id),
      SCM_PROJECT_NAME: project.name,
      CI_MERGE_REQUEST_IID: String(mergeRequest.iid),
    };
    const asVariables = (values: Record<string, string>) =>
      Object.entries(values).map(([name, value]) => plainVariable(name, value));
    const jobVariables = [
      ...asVariables(common),
      ...ofProject.variables.filter(({ key }) => typed[key] === undefined),
      ...asVariables(typed),
    ];
    const variables = Object.fromEntries(jobVariables.map((one) => [one.key, one.value]));
    const missing = askedFor(repository.definition).filter((name) => !Object(variables)[name]);
    if (missing.length > 0) {
      throw new UserError(
        `the pipeline asks for ${missing.join(', ')}, and nothing gives a value: use --variable NAME=VALUE`,
      );
    }
    say(`merge request !${mergeRequest.iid} of ${project.path_with_namespace}: ${mergeRequest.web_url}`);
    const secrets = [key.secret, variables.PLATFORM_API_SECRET ?? '', ...ofProject.secrets];
    const start = {
      project: { id: project.id, path: project.path_with_namespace },
      branch,
      sha: repository.sha,
      mergeRequest: { iid: mergeRequest.iid, url: mergeRequest.web_url },
      variables: { present: Object.keys(variables).sort(), missing },
      ...targetIn(variables, secrets),
      startedBy: terminal.env[STARTED_BY],
    };
    const exitCode = await record({
      command,
      terminal,
      client,
      repository,
      scm,
      project,
      branch,
      start,
      variables: jobVariables,
      secrets,
      say,
    });
    if (exitCode !== 0) throw new ExitWith(exitCode, `the pipeline of '${branch}' failed: its log above says where`);
  } finally {
    await key.end().catch(() => terminal.complain("terrarium: the pipeline's API key could not be revoked"));
  }
}

interface RecordOptions extends RunOptions {
  scm: ScmClient;
  project: ScmProjectRecord;
  start: Omit<PipelineStart, 'jobs'>;
  variables: readonly JobVariable[];
  /** Never printed or kept. */
  secrets: readonly string[];
  say(line: string): void;
}

/** Runs the jobs, prints what they say, and keeps the platform's record of it up to date; resolves to the exit code. */
async function record(options: RecordOptions): Promise<number> {
  const { command, terminal, client, repository, scm, project, branch, secrets, say } = options;
  const only = listOption(command, 'job');
  const runner = await PipelineProcess.prepare({ dir: repository.dir, variables: options.variables, terminal });
  try {
    const jobs = await runner.jobs(only);
    const unknown = only.filter((name) => !jobs.some((job) => job.name === name));
    if (unknown.length > 0) throw new UserError(`the pipeline has no job ${unknown.join(', ')}`);
    const output = new PipelineOutput(jobs, Date.now);
    const { id } = await client.json('POST', '/inspect/pipelines', runSchema, json({ ...options.start, jobs }));
    let log: string[] = [];
    let telling: Promise<unknown> = Promise.resolve();
    const tell = (more: Partial<PipelineProgress> = {}) => {
      const progress = masked({ state: 'running', jobs: output.jobs, log, ...more }, secrets);
      log = [];
      // What could not be told does not keep the rest from being told.
      telling = telling
        .catch(() => undefined)
        .then(() => client.text('PUT', `/inspect/pipelines/${id}`, json(progress)));
      return telling;
    };
    const timer = setInterval(() => {
      if (log.length > 0) tell().catch(() => undefined); // the last word will tell
    }, TELL_EVERY_MS);
    let isCanceled = false;
    const cancel = () => {
      isCanceled = true;
    };
    for (const signal of ['SIGINT', 'SIGTERM']) terminal.signals.once(signal, cancel);
    let exitCode: number;
    try {
      exitCode = await runner.run(only, (line) => {
        output.read(line);
        log.push(line);
        say(masked(line, secrets));
      });
    } finally {
      clearInterval(timer);
      for (const signal of ['SIGINT', 'SIGTERM']) terminal.signals.off(signal, cancel);
    }
    output.end();
    const appUrl = await scm.appUrl(project, branch);
    const state = isCanceled ? 'canceled' : exitCode === 0 ? 'success' : 'failed';
    await tell({ state, exitCode, ...(appUrl !== undefined && { appUrl }) });
    await tellStatuses(options, output.jobs);
    if (command.getOptionValue('json') === true) {
      terminal.print(await client.text('GET', `/inspect/pipelines/${id}`));
    } else if (exitCode === 0 && appUrl !== undefined) {
      say(`the app of '${branch}' is at ${appUrl}`);
    }
    return isCanceled && exitCode === 0 ? NO : exitCode;
  } finally {
    await runner.end();
  }
}

/** As a pipeline's server does: how each job of the commit ended. */
async function tellStatuses(
  { scm, project, repository, branch }: RecordOptions,
  jobs: readonly PipelineJob[],
): Promise<void> {
  for (const { name, state } of jobs) {
    if (state === 'success' || state === 'failed' || state === 'skipped') {
      await scm.setStatus(project, repository.sha, { ref: branch, name, state });
    }
  }
}

function json(body: object): { body: { type: string; content: string } } {
  return { body: { type: 'application/json', content: JSON.stringify(body) } };
}

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

function listOption(command: Command, name: string): string[] {
  const value: unknown = command.getOptionValue(name);
  return Array.isArray(value) ? value.map(String) : [];
}

function parseVariables(sent: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    sent.map((text) => {
      const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
      if (name === undefined || value === undefined) throw new UserError(`--variable '${text}' is not NAME=VALUE`);
      return [name, value];
    }),
  );
}
