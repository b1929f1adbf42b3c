import { copyFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { reasonOf } from '../../model/errors.ts';
import type { PipelineJob } from '../../model/pipeline-run.ts';
import { type ArtifactStore, artifactsIn, folderName } from './artifacts.ts';
import { printFindings } from './choose-jobs.ts';
import { READER_FOLDER, type ReadingRun, readDefinition } from './definition.ts';
import { expandText, givenValues, type RunVariables, valuesOf } from './job-variables.ts';
import { findingsIn } from './keywords.ts';
import { PipelineError } from './pipeline-error.ts';
import { isTrigger, type Plan, type PlannedJob, planOf } from './plan.ts';
import type { PipelineFacts } from './rules.ts';
import { type JobsOptions, runJob } from './run-job.ts';
import { runJobs, type ScheduledOutcome, type ScheduleOptions } from './run-jobs.ts';
import { duration } from './run-log.ts';

/** Levels of child pipelines, as on the server. */
const MAX_DEPTH = 2;

const include = z.looseObject({
  local: z.string().optional(),
  artifact: z.string().optional(),
  job: z.string().optional(),
});
const included = z.union([
  z.string().transform((location): z.output<typeof include> => {
    return /^https?:/.test(location) ? { remote: location } : { local: location };
  }),
  include,
]);
const trigger = z.looseObject({
  include: z.union([included.transform((singleInclude) => [singleInclude]), z.array(included)]),
  strategy: z.string().optional(),
  forward: z
    .looseObject({ yaml_variables: z.boolean().optional(), pipeline_variables: z.boolean().optional() })
    .optional(),
});

export interface Child extends Plan {
  stages: readonly string[];
  variables: RunVariables;
  isDepended: boolean;
}

/** A child pipeline before the run: undefined if a job creates its definition, or why it cannot be created. */
export type ExpectedChild = Child | { problem: string } | undefined;

interface ParentRun extends ReadingRun {
  checkout: { dir: string };
  facts: PipelineFacts;
}

export type ChildOptions = ParentRun &
  JobsOptions & {
    children: ReadonlyMap<string, ExpectedChild>;
    schedule: Pick<ScheduleOptions, 'isChosen' | 'maxAtOnce' | 'delay' | 'onSkip' | 'signal'>;
  };

export function firstRecord(job: PlannedJob, isChosen: (job: PlannedJob) => boolean): PipelineJob {
  const { name, stage, when } = job;
  return { name, stage, state: when === 'manual' && !isChosen(job) ? 'manual' : 'waiting' };
}

export const jobsIn = (children: ReadonlyMap<string, ExpectedChild>): PlannedJob[] =>
  [...children.values()].flatMap((child) => (child && 'jobs' in child ? child.jobs : []));

/** The child pipelines that the run of these jobs would have, by the name of their job, with those of their own jobs. */
export async function expectedChildren(
  jobs: readonly PlannedJob[],
  variables: RunVariables,
  options: ParentRun,
  depth = 0,
): Promise<Map<string, ExpectedChild>> {
  const expected = new Map<string, ExpectedChild>();
  for (const job of jobs.filter(isTrigger)) {
    try {
      const child = await readChild(job, variables, depth, options);
      expected.set(job.name, child);
      if (!child) continue;
      for (const entry of await expectedChildren(child.jobs, child.variables, options, depth + 1))
        expected.set(...entry);
    } catch (failure) {
      options.context.signal.throwIfAborted();
      expected.set(job.name, { problem: reasonOf(failure) });
    }
  }
  return expected;
}

/** Runs jobs with their child pipelines, which can go on after their job: `ended` waits for them. */
export function childPipelines(options: ChildOptions) {
  const { children, artifacts, request, context, log, schedule } = options;
  const begunChildren: Promise<unknown>[] = [];

  /** Runs a job: one with `trigger` has the result of its child pipeline with `strategy: depend`, or else of its creation. */
  async function run(job: PlannedJob, variables: RunVariables, depth = 0): Promise<ScheduledOutcome> {
    if (!isTrigger(job)) return runJob(job, { ...options, variables });
    log.begin(job.name);
    const end = (problem: string | undefined): ScheduledOutcome => {
      const mayFail = problem !== undefined && job.allowFailure === true;
      if (problem !== undefined) log.note(job.name, `> ${problem}`);
      const state = problem === undefined ? 'success' : context.signal.aborted ? 'canceled' : 'failed';
      log.change(job.name, { state, durationMs: log.elapsedMs(job.name), ...(mayFail && { mayFail }) });
      const verdict = problem === undefined ? '' : mayFail ? '  WARN' : '  FAIL';
      log.note(job.name, `finished in ${duration(log.elapsedMs(job.name))}${verdict}`);
      return problem === undefined || mayFail ? 'done' : 'failed';
    };
    try {
      const child = await childOf(job, variables, depth);
      const running = runChild(job, child, depth);
      begunChildren.push(running);
      if (!child.isDepended) return end(undefined);
      const outcome = await running;
      if (context.signal.aborted) return end('canceled');
      if (outcome !== 'blocked') return end(outcome === 'done' ? undefined : 'a job of the child pipeline failed');
      log.change(job.name, { state: 'manual' });
      log.note(job.name, 'waits for a manual job of its child pipeline');
      return outcome;
    } catch (failure) {
      return end(`the child pipeline could not be created: ${reasonOf(failure)}`);
    }
  }

  async function childOf(job: PlannedJob, parent: RunVariables, depth: number): Promise<Child> {
    const expected = children.get(job.name);
    if (expected && 'problem' in expected) throw new PipelineError(expected.problem);
    if (expected) {
      const predefined = { ...parent.predefined, ...PARENT };
      return { ...expected, variables: { ...expected.variables, predefined } };
    }
    const child = await readChild(job, parent, depth, options, artifacts);
    if (!child) throw new PipelineError('its definition does not exist');
    printFindings(findingsIn(child.jobs), request.isForced, (line) => log.printLine(line));
    return child;
  }

  async function runChild(job: PlannedJob, child: Child, depth: number): Promise<ScheduledOutcome> {
    const { jobs, stages, variables } = child;
    log.add(jobs.map((childJob) => firstRecord(childJob, schedule.isChosen)));
    await runJobs({ ...schedule, jobs, stages, run: (childJob) => run(childJob, variables, depth + 1) });
    const requiredJobs = new Set(jobs.filter(({ allowFailure }) => allowFailure !== true).map(({ name }) => name));
    const records = log.jobs.filter(({ name, mayFail }) => requiredJobs.has(name) && !mayFail);
    const failed = records.filter(({ state }) => state === 'failed');
    if (job.allowFailure === true) for (const { name } of failed) log.change(name, { mayFail: true });
    if (failed.length > 0) return 'failed';
    return records.some(({ state }) => state === 'manual') ? 'blocked' : 'done';
  }

  return {
    run,
    async ended(): Promise<void> {
      for (let count = 0; count < begunChildren.length; count += 1) await begunChildren[count];
    },
  };
}

const PARENT = { CI_PIPELINE_SOURCE: 'parent_pipeline' };

/** The child pipeline of a job; undefined if its definition is an artifact and no artifacts are given. */
async function readChild(
  job: PlannedJob,
  parent: RunVariables,
  depth: number,
  run: ParentRun,
  artifacts?: ArtifactStore,
): Promise<Child | undefined> {
  if (depth >= MAX_DEPTH) throw new PipelineError(`there are more than ${MAX_DEPTH} levels of child pipelines`);
  const { success, data } = trigger.safeParse(job.definition.trigger);
  if (!success) throw new PipelineError('`trigger` has no `include`, and pipelines of other projects are not run');
  const predefined = { ...parent.predefined, ...PARENT };
  const triggerVariables = valuesOf({ ...parent, predefined }, job.variables);
  const forwarded = Object.keys(job.variables).map((name) => [name, triggerVariables[name] ?? ''] as const);
  const variables: RunVariables = {
    ...parent,
    predefined,
    typed: {
      ...(data.forward?.yaml_variables !== false && Object.fromEntries(forwarded)),
      ...(data.forward?.pipeline_variables && parent.typed),
    },
  };
  const isGenerated = data.include.some(({ artifact }) => artifact !== undefined);
  if (isGenerated && !artifacts) return undefined;
  // A copy while jobs run: what reading leaves in it is not for them.
  const dir = artifacts ? join(run.folder.path, 'children', folderName(job.name)) : run.checkout.dir;
  if (artifacts) await cp(run.checkout.dir, dir, { recursive: true, verbatimSymlinks: true });
  const { file, written } = await fileOf(data.include, dir, triggerVariables, (name, path) =>
    join((artifacts && artifactsIn(artifacts, besides(job, name))) ?? '', path),
  );
  const values = givenValues(variables);
  const definition = await readDefinition({ ...run, dir, file, variables: values }).catch((failure) => {
    if (!(failure instanceof PipelineError)) throw failure;
    const message = failure.message.replaceAll(READER_FILE, (readerFile) => written.get(readerFile) ?? readerFile);
    throw new PipelineError(message, failure.exitCode);
  });
  const { jobs: planned, leftOut } = planOf(definition, run.facts, variables);
  if (planned.length === 0) throw new PipelineError('it has no jobs. Check the rules of its jobs and its workflow.');
  const named = (name: string) => `${job.name} / ${name}`;
  const jobs = planned.map((childJob): PlannedJob => {
    const parentNeeds = (childJob.definition.needs ?? []).filter(
      ({ pipeline, artifacts }) => pipeline && artifacts !== false,
    );
    const foreign = parentNeeds.find(
      ({ pipeline }) => expandText(String(pipeline), triggerVariables) !== triggerVariables.CI_PIPELINE_ID,
    );
    if (foreign) throw new PipelineError(`job '${childJob.name}' needs artifacts of a pipeline that is not its parent`);
    return {
      ...childJob,
      name: named(childJob.name),
      ownName: childJob.name,
      needs: childJob.needs?.map(named),
      artifactsOf: [...childJob.artifactsOf.map(named), ...parentNeeds.map((need) => besides(job, need.job))],
    };
  });
  return {
    jobs,
    leftOut,
    stages: definition.stages,
    variables,
    isDepended: data.strategy === 'depend' || data.strategy === 'mirror',
  };
}

const READER_FILE = /\.git\/terrarium\/\w+\.yml/g;

/** The file with the definition of a child pipeline, relative to the checkout, and what `include` says for each file that is made for it. */
async function fileOf(
  includes: readonly z.output<typeof included>[],
  dir: string,
  values: Readonly<Record<string, string>>,
  artifactOf: (job: string, path: string) => string,
): Promise<{ file: string; written: ReadonlyMap<string, string> }> {
  await mkdir(join(dir, READER_FOLDER), { recursive: true });
  const files: Record<string, unknown>[] = [];
  const labels: string[] = [];
  const written = new Map<string, string>();
  for (const { artifact, job, local, ...more } of includes) {
    if (artifact !== undefined) {
      const copy = `${READER_FOLDER}/${files.length}.yml`;
      const path = artifactOf(String(job), expandText(artifact, values));
      await copyFile(path, join(dir, copy)).catch(() => {
        throw new PipelineError(`job '${job}' has no artifact ${artifact}`);
      });
      files.push({ ...more, local: `/${copy}` });
      labels.push(`${artifact} of '${job}'`);
      written.set(copy, `${artifact} of '${job}'`);
    } else if (local !== undefined) {
      const path = expandText(local, values).replace(/^\/+/, '');
      files.push({ ...more, local: `/${path}` });
      labels.push(path);
    } else {
      files.push(more);
      labels.push(String(Object.values(more)[0]));
    }
  }
  const [{ local, ...more } = {}] = files;
  const isPlain = files.length === 1 && Object.keys(more).length === 0;
  if (isPlain && typeof local === 'string' && !local.includes('*')) return { file: local.slice(1), written };
  const all = `${READER_FOLDER}/child.yml`;
  written.set(all, labels.join(' and '));
  await writeFile(join(dir, all), JSON.stringify({ include: files }));
  return { file: all, written };
}

/** The name in the run of another job of the pipeline that a job is part of. */
const besides = ({ name, ownName = name }: PlannedJob, other = '') =>
  `${name.slice(0, name.length - ownName.length)}${other}`;
