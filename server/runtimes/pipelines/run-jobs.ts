import { neededJobs, type PlannedJob } from './plan.ts';

/** The outcome of a job, for the jobs that wait for it. */
export type ScheduledOutcome =
  /** It did what it should, or may fail. */
  | 'done'
  | 'failed'
  /** It did not run, and what comes after it is not to run either, unless it always does. */
  | 'skipped'
  /** It is a manual job that is waited for, or behind one: nothing that comes after it runs. */
  | 'blocked'
  /** It did not run, and no other job requires it. */
  | 'left out';

export type SkipReason = 'failure' | 'manual' | 'no failure' | 'blocked';

export interface ScheduleOptions {
  jobs: readonly PlannedJob[];
  stages: readonly string[];
  isChosen(job: PlannedJob): boolean;
  maxAtOnce: number;
  /** Resolves when a delayed job may begin, or the run is canceled. */
  delay(job: PlannedJob): Promise<void>;
  run(job: PlannedJob): Promise<ScheduledOutcome>;
  onSkip(job: PlannedJob, why: SkipReason): void;
  signal: AbortSignal;
}

/** Runs the jobs of a pipeline, each as soon as those that it waits for have ended. */
export async function runJobs(options: ScheduleOptions): Promise<void> {
  const { jobs, stages, isChosen, maxAtOnce, delay, run, onSkip, signal } = options;
  const outcomes = new Map<string, ScheduledOutcome>();
  const waiting = new Set(jobs);
  const running = new Set<Promise<void>>();
  /** Delayed jobs that wait, without a place among those that run; true once their time has come. */
  const delayed = new Map<PlannedJob, Promise<void> | true>();
  const groups = new Set<string>();
  const names = new Set(jobs.map(({ name }) => name));
  /** Undefined: it has to wait. */
  const decide = (job: PlannedJob): 'run' | SkipReason | undefined => {
    // Jobs that were not chosen take no part.
    const before = neededJobs(job, jobs, stages).flatMap((name) => (names.has(name) ? [outcomes.get(name)] : []));
    if (before.includes(undefined)) return undefined;
    if (before.includes('blocked')) return 'blocked';
    if (job.when === 'always') return 'run';
    // A stage goes on without jobs that did not run; a job that needs one of them does not.
    const hasNeedThatDidNotRun = job.needs && (before.includes('skipped') || before.includes('left out'));
    if (job.when === 'on_failure')
      return isChosen(job) || (before.includes('failed') && !hasNeedThatDidNotRun) ? 'run' : 'no failure';
    if (before.includes('failed') || hasNeedThatDidNotRun) return 'failure';
    return job.when === 'manual' && !isChosen(job) ? 'manual' : 'run';
  };
  while (waiting.size > 0 || running.size > 0) {
    let hasMoved = false;
    for (const job of waiting) {
      if (signal.aborted) return void (await Promise.all(running));
      const decision = decide(job);
      if (decision === undefined) continue;
      if (decision === 'run' && job.when === 'delayed' && delayed.get(job) !== true) {
        if (!delayed.has(job))
          delayed.set(
            job,
            delay(job).then(() => void delayed.set(job, true)),
          );
        continue;
      }
      const { resourceGroup: group } = job;
      if (decision === 'run' && (running.size >= maxAtOnce || (group && groups.has(group)))) continue;
      waiting.delete(job);
      hasMoved = true;
      if (decision === 'run') {
        if (group) groups.add(group);
        const work: Promise<void> = run(job).then((outcome) => {
          outcomes.set(job.name, outcome);
          running.delete(work);
          if (group) groups.delete(group);
        });
        running.add(work);
        continue;
      }
      onSkip(job, decision);
      const isBlocked = decision === 'blocked' || (decision === 'manual' && job.allowFailure !== true);
      outcomes.set(job.name, isBlocked ? 'blocked' : decision === 'failure' ? 'skipped' : 'left out');
    }
    if (hasMoved) continue;
    const pending = [...running, ...[...delayed.values()].filter((entry) => entry !== true)];
    // Jobs that wait for each other never begin; the plan has refused them.
    if (pending.length === 0) break;
    await Promise.race(pending);
  }
}
