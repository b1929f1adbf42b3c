import { randomUUID } from 'node:crypto';
import type { Change } from '../../model/commit.ts';
import type { LambdaInvoker } from '../../model/invocation.ts';
import { nextRunMs, type Period, periodOf } from '../../model/period.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { isLambda } from './lambda-definition.ts';

export interface PeriodicOptions {
  view: WorldView;
  invoker: LambdaInvoker;
  /** Is anything run at all (D-056)? By default nothing is: an imported world would begin to act. */
  isOn: boolean;
  nowMs(): number;
  monotonicMs(): number;
  onChange(): void;
  logLine(lambdaId: Uuid, text: string): void;
}

export interface Schedule {
  nextAtMs?: number;
  lastAtMs?: number;
  leftOut: number;
}

interface Job {
  key: string;
  period: Period;
  schedule: Schedule;
  timer?: NodeJS.Timeout;
  isRunning: boolean;
}

const CHECK_EVERY_MS = 10_000;
/** A clock that is set back by more is not only adjusted. */
const SET_BACK_MS = 1_000;

/** Runs lambdas on their `periodic_info` (D-056), as separate invocations. A run is skipped, and logged, while the previous one goes on. */
export class Periodic {
  readonly #options: PeriodicOptions;
  readonly #jobs = new Map<Uuid, Job>();

  constructor(options: PeriodicOptions) {
    this.#options = options;
  }

  start(): void {
    for (const lambda of this.#options.view.all('lambdas')) this.#set(lambda);
  }

  changed(changes: readonly Change[]): void {
    for (const { before, after } of changes) {
      if (after && isLambda(after)) this.#set(after);
      else if (before && isLambda(before)) this.#end(before.id);
    }
  }

  find(lambdaId: Uuid): Schedule | undefined {
    const schedule = this.#jobs.get(lambdaId)?.schedule;
    return schedule && { ...schedule };
  }

  /** Runs what has become due, earliest first; each lambda once. If the clock moved back, plans again. */
  clockMoved(byMs: number): void {
    const jobs = [...this.#jobs].sort(([, a], [, b]) => (a.schedule.nextAtMs ?? 0) - (b.schedule.nextAtMs ?? 0));
    for (const [lambdaId, job] of jobs) {
      const { nextAtMs } = job.schedule;
      if (nextAtMs === undefined) continue;
      clearTimeout(job.timer);
      if (byMs < 0) this.#plan(lambdaId, job, this.#options.nowMs(), nextAtMs + byMs);
      else this.#wait(lambdaId, job, nextAtMs);
    }
  }

  stop(): void {
    for (const id of [...this.#jobs.keys()]) this.#end(id);
  }

  #set(lambda: StoredResource): void {
    const period = lambda.state === 'Pending' ? undefined : periodOf(lambda.properties.periodic_info);
    const key = JSON.stringify(period);
    if (this.#jobs.get(lambda.id)?.key === key) return;
    this.#end(lambda.id);
    if (!period) return;
    const job: Job = { key, period, schedule: { leftOut: 0 }, isRunning: false };
    this.#jobs.set(lambda.id, job);
    if (this.#options.isOn) this.#plan(lambda.id, job, this.#options.nowMs());
  }

  #end(lambdaId: Uuid): void {
    clearTimeout(this.#jobs.get(lambdaId)?.timer);
    this.#jobs.delete(lambdaId);
  }

  /** The first due time after that one which has not passed yet. @param intervalDueMs when an interval that has begun is over */
  #plan(lambdaId: Uuid, job: Job, afterMs: number, intervalDueMs?: number): void {
    const nowMs = this.#options.nowMs();
    const isInterval = job.period.intervalMs !== undefined;
    const next = (isInterval ? intervalDueMs : undefined) ?? nextRunMs(job.period, afterMs, nowMs);
    if (next === undefined) delete job.schedule.nextAtMs;
    else {
      job.schedule.nextAtMs = next;
      this.#wait(lambdaId, job, next);
    }
    this.#options.onChange();
  }

  #wait(lambdaId: Uuid, job: Job, dueMs: number): void {
    const { nowMs, monotonicMs } = this.#options;
    const aheadMs = nowMs() - monotonicMs();
    const leftMs = Math.max(0, dueMs - nowMs());
    job.timer = setTimeout(
      () => {
        const setBackMs = aheadMs - (nowMs() - monotonicMs());
        // Otherwise a clock that was fast would delay it by the same time.
        if (setBackMs > SET_BACK_MS) this.#plan(lambdaId, job, nowMs(), dueMs - setBackMs);
        else if (nowMs() < dueMs) this.#wait(lambdaId, job, dueMs);
        else this.#due(lambdaId, job, dueMs);
      },
      Math.min(leftMs, CHECK_EVERY_MS),
    ).unref();
  }

  #due(lambdaId: Uuid, job: Job, dueMs: number): void {
    this.#plan(lambdaId, job, dueMs);
    if (!job.isRunning) void this.#run(lambdaId, job, dueMs);
    else {
      if (job.schedule.leftOut === 0) {
        const at = new Date(dueMs).toISOString();
        this.#options.logLine(lambdaId, `the run at ${at} was skipped, because the previous one is still running`);
      }
      job.schedule.leftOut += 1;
    }
  }

  async #run(lambdaId: Uuid, job: Job, dueMs: number): Promise<void> {
    job.isRunning = true;
    job.schedule.lastAtMs = dueMs;
    const { payload } = job.period;
    const text = payload === undefined ? '' : typeof payload === 'string' ? payload : JSON.stringify(payload);
    try {
      await this.#options.invoker.invoke(lambdaId, {
        executionId: randomUUID(),
        trigger: 'periodic',
        body: Buffer.from(text),
        context: { method: 'POST', path: '', params: {}, headers: {}, creds: '', user: null, httpAware: false },
      });
    } finally {
      job.isRunning = false;
    }
  }
}
