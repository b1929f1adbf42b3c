import type { PlannedJob } from './plan.ts';

/** What became of a job, for those that wait for it. */
export type Fate =
  /** It did what it should, or may fail. */
  | 'done'
  | 'failed'
  /** It did not run, for what comes after it is not to run either. */
  | 'skipped'
  /** It did not run, and nobody misses it. */
  | 'left out';

export interface ScheduleOptions {
  jobs: readonly PlannedJob[];
  stages: readonly string[];
  /** May a manual job run? */
  isChosen(job: PlannedJob): boolean;
  /** Do jobs wait for others at all? Not when they are run one by one. */
  isOrdered: boolean;
  maxAtOnce: number;
  /** Runs one to its end. */
  run(job: PlannedJob): Promise<Fate>;
  /** One that does not run. */
  onSkip(job: PlannedJob, why: 'failure' | 'manual' | 'no failure'): void;
  signal: AbortSignal;
}

/** Runs the jobs of a pipeline, each as soon as those that it waits for have ended. */
export async function runJobs(options: ScheduleOptions): Promise<void> {
  const { jobs, stages, isChosen, isOrdered, maxAtOnce, run, onSkip, signal } = options;
  const fates = new Map<string, Fate>();
  const waiting = new Set(jobs);
  const running = new Set<Promise<void>>();
  const awaited = ({ needs, stage }: PlannedJob): string[] => {
    if (!isOrdered) return [];
    if (needs) return [...needs];
    return jobs.filter((one) => stages.indexOf(one.stage) < stages.indexOf(stage)).map(({ name }) => name);
  };
  /** Undefined: it has to wait. */
  const decide = (job: PlannedJob): 'run' | 'failure' | 'manual' | 'no failure' | undefined => {
    const before = awaited(job).map((name) => fates.get(name));
    if (before.includes(undefined)) return undefined;
    if (job.when === 'manual' && !isChosen(job)) return before.includes('failed') ? 'failure' : 'manual';
    if (job.when === 'always') return 'run';
    if (job.when === 'on_failure') return before.includes('failed') ? 'run' : 'no failure';
    return before.includes('failed') || before.includes('skipped') ? 'failure' : 'run';
  };
  while (waiting.size > 0 || running.size > 0) {
    let hasMoved = false;
    for (const job of waiting) {
      if (signal.aborted) return void (await Promise.all(running));
      if (running.size >= maxAtOnce) break;
      const decision = decide(job);
      if (decision === undefined) continue;
      waiting.delete(job);
      hasMoved = true;
      if (decision === 'run') {
        const work: Promise<void> = run(job).then((fate) => {
          fates.set(job.name, fate);
          running.delete(work);
        });
        running.add(work);
        continue;
      }
      onSkip(job, decision);
      const isMissed = decision === 'failure' || (decision === 'manual' && job.allowFailure !== true);
      fates.set(job.name, isMissed ? 'skipped' : 'left out');
    }
    if (hasMoved) continue;
    // Jobs that wait for each other never begin; what reads the definition has refused them.
    if (running.size === 0) break;
    await Promise.race(running);
  }
}
