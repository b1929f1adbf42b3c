import { randomUUID } from 'node:crypto';
import type { Change } from '../model/commit.ts';
import type { Uuid } from '../model/ids.ts';
import type { LambdaInvoker } from '../model/invocation.ts';
import { nextRunMs, type Period, periodOf } from '../model/period.ts';
import type { StoredResource } from '../model/record.ts';
import type { WorldView } from '../model/world-view.ts';
import { isLambda } from './lambda-definition.ts';

export interface PeriodicOptions {
  view: WorldView;
  invoker: LambdaInvoker;
  /** Is anything run at all (D-056)? By default nothing is: an imported world would begin to act. */
  isOn: boolean;
  nowMs(): number;
  /** Told whenever another time is the next one. */
  onChange(): void;
  /** A line for a lambda's log. */
  say(lambdaId: Uuid, text: string): void;
}

/** When a lambda runs by the clock. */
export interface Schedule {
  /** Absent when that is switched off. */
  nextAtMs?: number;
  lastAtMs?: number;
  /** Runs left out because the one before was still under way. */
  leftOut: number;
}

interface Job extends Schedule {
  key: string;
  period: Period;
  timer?: NodeJS.Timeout;
  isRunning: boolean;
}

/** The longest that a timer of Node can wait is less than a month. */
const LONGEST_WAIT_MS = 24 * 60 * 60_000;

/**
 * Runs lambdas by their `periodic_info` (D-056): each time as an invocation of its own. A run that is due while the one before is
 * under way is left out, however long that takes, so that runs never pile up; the log says so.
 */
export class Periodic {
  readonly #options: PeriodicOptions;
  readonly #jobs = new Map<Uuid, Job>();

  constructor(options: PeriodicOptions) {
    this.#options = options;
  }

  /** Begins with what the world holds. */
  start(): void {
    for (const lambda of this.#options.view.all('lambdas')) this.#set(lambda);
  }

  /** To be told of every commit. */
  changed(changes: readonly Change[]): void {
    for (const { before, after } of changes) {
      if (after && isLambda(after)) this.#set(after);
      else if (before && isLambda(before)) this.#end(before.id);
    }
  }

  /** Undefined when the lambda has no period. */
  find(lambdaId: Uuid): Schedule | undefined {
    const job = this.#jobs.get(lambdaId);
    if (!job) return undefined;
    const { nextAtMs, lastAtMs, leftOut } = job;
    return { ...(nextAtMs !== undefined && { nextAtMs }), ...(lastAtMs !== undefined && { lastAtMs }), leftOut };
  }

  stop(): void {
    for (const id of [...this.#jobs.keys()]) this.#end(id);
  }

  #set(lambda: StoredResource): void {
    const period = periodOf(lambda.properties.periodic_info);
    const key = JSON.stringify(period);
    if (this.#jobs.get(lambda.id)?.key === key) return;
    this.#end(lambda.id);
    if (!period) return;
    const job: Job = { key, period, leftOut: 0, isRunning: false };
    this.#jobs.set(lambda.id, job);
    if (this.#options.isOn) this.#plan(lambda.id, job, this.#options.nowMs());
  }

  #end(lambdaId: Uuid): void {
    clearTimeout(this.#jobs.get(lambdaId)?.timer);
    this.#jobs.delete(lambdaId);
  }

  /** The first due time after that one which has not passed yet. */
  #plan(lambdaId: Uuid, job: Job, afterMs: number): void {
    const nowMs = this.#options.nowMs();
    const next = nextRunMs(job.period, afterMs, nowMs);
    if (next === undefined) delete job.nextAtMs;
    else {
      job.nextAtMs = next;
      this.#wait(lambdaId, job, next);
    }
    this.#options.onChange();
  }

  #wait(lambdaId: Uuid, job: Job, dueMs: number): void {
    const leftMs = Math.max(0, dueMs - this.#options.nowMs());
    job.timer = setTimeout(
      () => {
        if (this.#options.nowMs() < dueMs) this.#wait(lambdaId, job, dueMs);
        else this.#due(lambdaId, job, dueMs);
      },
      Math.min(leftMs, LONGEST_WAIT_MS),
    ).unref();
  }

  #due(lambdaId: Uuid, job: Job, dueMs: number): void {
    this.#plan(lambdaId, job, dueMs);
    if (!job.isRunning) void this.#run(lambdaId, job, dueMs);
    else {
      if (job.leftOut === 0) {
        const at = new Date(dueMs).toISOString();
        this.#options.say(lambdaId, `the run of ${at} was left out: the one before is still under way`);
      }
      job.leftOut += 1;
    }
  }

  async #run(lambdaId: Uuid, job: Job, dueMs: number): Promise<void> {
    job.isRunning = true;
    job.lastAtMs = dueMs;
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
