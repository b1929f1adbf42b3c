import { resolve } from 'node:path';
import type { Command } from 'commander';
import { UserError } from '../config.ts';
import { packageFile } from '../package-file.ts';
import { CANCELED } from '../pipelines/pipeline-error.ts';
import type { PipelineRequest } from '../pipelines/pipeline-request.ts';
import { readRepository } from '../pipelines/repository.ts';
import { type PipelineRetry, retryRequest } from '../pipelines/retry.ts';
import { type PipelineSource, SOURCES } from '../pipelines/rules.ts';
import { SAMPLE_BRANCH, SAMPLE_DIR, SAMPLE_PROJECT, withSampleRepository } from '../pipelines/sample-repository.ts';
import { stopBranch } from '../pipelines/stop-branch.ts';
import { ExitWith } from './exit-with.ts';
import { addPlatformOptions, connect, textOption } from './instance-options.ts';
import type { PlatformClient } from './platform-client.ts';
import type { Terminal } from './terminal.ts';

const NOTES = `
Runs the commit's .gitlab-ci.yml on this machine, as the server would for a merge request of the branch (or for a push, where no job joins
that): in a checkout of its own, each job in a copy, in its image where a container engine answers. Makes the merge request and the
environments in the source-control stand-in, tells the window how the jobs get on, and ends when the app answers.
Variables: those given with --variable, then the project's in the stand-in, then what fits the platform, then the definition's own, then
the server's (CI_...).`;

/** `terrarium pipeline run|demo|retry|stop`: a branch through its own pipeline, on this machine. */
export function addPipelineCommand(program: Command, terminal: Terminal): void {
  const pipeline = program.command('pipeline').description('run pipelines that deploy to the platform');
  const sampleDir = packageFile(SAMPLE_DIR);
  const command = addPlanOptions(
    pipeline
      .command('run')
      .description("run a repository's pipeline for a branch")
      .argument('[dir]', 'the repository', '.')
      .option('--branch <NAME>', 'the branch; unless given, the one checked out')
      .option('--project <PATH>', 'project in the source-control stand-in, e.g. fern-moss/shop')
      .option('--working-tree', 'take along what is not committed, as a commit of its own', false),
  ).action(async (folder: string) => {
    const client = await connect(command, terminal);
    await run(command, terminal, client, async () => ({
      ...askedOf(command),
      repository: await readRepository(resolve(terminal.folder, folder), textOption(command, 'branch')),
      isKept: true,
    }));
  });
  const demo = addPlanOptions(
    pipeline
      .command('demo')
      .description("run the sample app's pipeline: an app behind an address, without a repository of one's own")
      .option('--branch <NAME>', 'name of the feature branch', SAMPLE_BRANCH)
      .option('--project <PATH>', 'project in the source-control stand-in', SAMPLE_PROJECT),
  ).action(async () => {
    const client = await connect(demo, terminal);
    await withSampleRepository(sampleDir, textOption(demo, 'branch') ?? SAMPLE_BRANCH, async (repository) => {
      await run(demo, terminal, client, async () => ({ ...askedOf(demo), repository, isKept: false }));
    });
  });
  const retry = addRunOptions(
    pipeline
      .command('retry')
      .description('run one job of an earlier run again, in the same commit')
      .argument('<run>', 'id of the run; see the window, or pipeline run --json')
      .argument('<job>', "the job's name"),
  ).action(async (id: string, job: string) => {
    const client = await connect(retry, terminal);
    const work = async ({ repository, asked }: PipelineRetry) => {
      await run(retry, terminal, client, async () => ({ ...askedOf(retry), repository, ...asked }));
    };
    await retryRequest(client, { id, job, sampleDir }, work);
  });
  const stop = addPlatformOptions(
    pipeline
      .command('stop')
      .description("take away a branch's app, also when the branch is gone")
      .requiredOption('--branch <NAME>', 'the branch')
      .option('--project <PATH>', 'project in the source-control stand-in; unless given, that of the newest run')
      .option('--account <NAME>', 'user that acts', 'ci-service'),
  ).action(async () => {
    const client = await connect(stop, terminal);
    const branch = textOption(stop, 'branch') ?? '';
    const account = textOption(stop, 'account') ?? '';
    const stopped = await stopBranch(client, { branch, project: textOption(stop, 'project'), account });
    if (stop.getOptionValue('json') === true) terminal.print(JSON.stringify(stopped));
    else
      terminal.print(`the app of '${branch}' is stopped${stopped.container ? `: container ${stopped.container}` : ''}`);
  });
}

/** What a whole pipeline can be told. */
function addPlanOptions(command: Command): Command {
  command
    .option('--source <SOURCE>', `what sets it off: ${SOURCES.join(', ')}`, sourceIn)
    .option('--job <NAME>', 'run this job only, even a manual one (repeatable)', collect, []);
  return addRunOptions(command);
}

/** What all ways to run a pipeline, or one job of it, can be told. */
function addRunOptions(command: Command): Command {
  command
    .option('--org <NAME>', 'organization to deploy to', 'demo')
    .option('--environment <ENVIRONMENT>', 'environment there: id, name or workspace/name')
    .option('--api <API>', 'API there that publishes the app: id or name')
    .option('--account <NAME>', 'user that the pipeline acts as', 'ci-service')
    .option('--variable <NAME=VALUE>', 'one more variable (repeatable)', collect, [])
    .option('--shell', 'run all jobs on this machine, those with an image, too', false)
    .option('--no-wait', 'end when the jobs have, and not when the app answers');
  return addPlatformOptions(command, 'print the record of the run as JSON').addHelpText('after', NOTES);
}

function askedOf(command: Command): Omit<PipelineRequest, 'repository' | 'isKept'> {
  const source: unknown = command.getOptionValue('source');
  return {
    project: textOption(command, 'project'),
    source: SOURCES.find((one) => one === source),
    target: {
      org: textOption(command, 'org') ?? '',
      environment: textOption(command, 'environment'),
      api: textOption(command, 'api'),
      account: textOption(command, 'account') ?? '',
    },
    typed: parseVariables(listOption(command, 'variable')),
    only: listOption(command, 'job'),
    takesWorkingTree: command.getOptionValue('workingTree') === true,
    usesShell: command.getOptionValue('shell') === true,
    waits: command.getOptionValue('wait') !== false,
  };
}

async function run(
  command: Command,
  terminal: Terminal,
  platform: PlatformClient,
  asked: () => Promise<PipelineRequest>,
): Promise<void> {
  const isJson = command.getOptionValue('json') === true;
  const stop = new AbortController();
  let exitCode: number = CANCELED;
  const cancelBy = { SIGINT: CANCELED, SIGTERM: 143, SIGHUP: 129 } as const;
  const listeners = Object.entries(cancelBy).map(([signal, code]) => {
    const cancel = () => {
      exitCode = code;
      stop.abort();
    };
    terminal.signals.on(signal, cancel);
    return () => terminal.signals.off(signal, cancel);
  });
  try {
    const wanted = await asked();
    const { branch } = wanted.repository;
    const say = isJson ? terminal.complain : terminal.print;
    // Not before: other commands need none of it.
    const { runPipeline } = await import('../pipelines/run-pipeline.ts');
    const end = await runPipeline(wanted, { platform, env: terminal.env, signal: stop.signal, say });
    if (isJson) terminal.print(await platform.text('GET', `/inspect/pipelines/${end.id}`));
    if (end.exitCode === CANCELED) throw new ExitWith(exitCode, `the pipeline of '${branch}' was cancelled`);
    if (end.exitCode !== 0)
      throw new ExitWith(end.exitCode, `the pipeline of '${branch}' failed: its log above says where`);
    if (end.appUrl !== undefined && !isJson) say(`the app of '${branch}' is at ${end.appUrl}`);
  } catch (failure) {
    if (failure instanceof Error && 'exitCode' in failure && !(failure instanceof ExitWith)) {
      throw new ExitWith(stop.signal.aborted ? exitCode : Number(failure.exitCode), failure.message);
    }
    throw failure;
  } finally {
    for (const end of listeners) end();
  }
}

function sourceIn(text: string): PipelineSource {
  const source = SOURCES.find((one) => one === text);
  if (source) return source;
  throw new UserError(`--source '${text}' is none: it is ${SOURCES.join(', ')}`);
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
