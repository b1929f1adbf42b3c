import { PlatformError } from '../model/errors.ts';
import type { ExchangeRecord } from '../model/exchange-record.ts';
import { bytesOfText } from '../model/held-bytes.ts';
import type { Uuid } from '../model/ids.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import { masked } from '../model/masked-text.ts';
import type { PipelineDeployment, PipelineProgress, PipelineRun, PipelineStart } from '../model/pipeline-run.ts';
import { deploymentIn, keyOf } from './pipeline-deployment.ts';

const MAX_LOG_LINES = 5_000;
/** Of one run's log; what memory holds for it. */
const MAX_LOG_BYTES = 4 * 1024 * 1024;
const MAX_DEPLOYMENTS = 20;

export interface PipelineRunsOptions {
  log: KeyedLog<PipelineRun>;
  nowMs(): number;
  newId(): string;
  /** Values of a project that no record may show. */
  secretsOf?(projectId: number): readonly string[];
  /** Told of each run as it changes. */
  onChange?(run: PipelineRun): void;
  /** Told of each request for a deployment that a run has made. */
  onDeployment?(run: PipelineRun, deployment: PipelineDeployment): void;
}

/** The newest runs of pipelines, as their runners tell of them. */
export class PipelineRuns {
  readonly #options: PipelineRunsOptions;
  readonly #running = new Set<string>();

  constructor(options: PipelineRunsOptions) {
    this.#options = options;
  }

  /** Newest first, without their logs; those that deploy to what `isInScope` says. */
  list(isInScope: (environmentId: Uuid | undefined) => boolean = () => true): Omit<PipelineRun, 'log'>[] {
    const all = Array.from(this.#options.log.entries(), ([, { log: _log, ...run }]) => run);
    return all.filter(({ targetEnvironmentId }) => isInScope(targetEnvironmentId)).reverse();
  }

  /** Throws 404. */
  get(id: string): PipelineRun {
    const run = this.#options.log.get(id);
    if (!run) throw new PlatformError(404, `pipeline run ${id} not found`);
    return run;
  }

  async begin(start: PipelineStart): Promise<PipelineRun> {
    const { newId, nowMs } = this.#options;
    const run: PipelineRun = { ...start, id: newId(), state: 'running', startedAtMs: nowMs(), log: [] };
    await this.#keep(run);
    this.#running.add(run.id);
    return run;
  }

  /** Throws 404; 409 for a run that has ended. */
  async progress(id: string, told: PipelineProgress): Promise<PipelineRun> {
    const run = this.get(id);
    const { log, ...change } = this.#masked(run, told);
    if (run.state !== 'running') throw new PlatformError(409, `pipeline run ${id} has ended: it is ${run.state}`);
    const lines = newest([...run.log, ...log]);
    const isOver = change.state !== 'running';
    const changed = { ...run, ...change, log: lines, ...(isOver && { finishedAtMs: this.#options.nowMs() }) };
    await this.#keep(changed);
    if (isOver) this.#running.delete(id);
    return changed;
  }

  /** A request that came to the gateway may be one that a run has made; resolves when it is kept with that run. */
  async sawExchange(exchange: ExchangeRecord): Promise<void> {
    if (this.#running.size === 0) return;
    for (const id of this.#running) if (!this.#options.log.get(id)) this.#running.delete(id); // others have taken its place
    const running = [...this.#running].flatMap((id) => this.#options.log.get(id) ?? []);
    // Two runs of one commit ask for the same: each by a key of its own.
    const key = keyOf(exchange);
    const byKey = running.filter(({ apiKey }) => apiKey !== undefined && apiKey === key);
    for (const run of byKey.length > 0 ? byKey : running) {
      const deployment = deploymentIn(exchange, run);
      if (!deployment) continue;
      const shown = this.#masked(run, deployment);
      await this.#keep({ ...run, deployments: [...(run.deployments ?? []), shown].slice(-MAX_DEPLOYMENTS) });
      this.#options.onDeployment?.(run, shown);
    }
  }

  /** Ends the runs that were under way when the platform ended: nobody tells of them any more. */
  async settle(): Promise<void> {
    for (const [id] of [...this.#options.log.entries()]) {
      if (!this.#running.has(id)) await this.abandon(id, 'The platform was ended while this ran');
    }
  }

  /** Ends a run whose runner is gone without a last word; one that has ended stays as it is. */
  async abandon(id: string, why: string): Promise<void> {
    const run = this.#options.log.get(id);
    if (run?.state !== 'running') return;
    const jobs = run.jobs.map((job) => (job.state === 'running' ? { ...job, state: 'failed' as const } : job));
    const log = [...run.log, `${why}; how the pipeline went on is not known.`];
    await this.#keep({ ...run, jobs, log, state: 'canceled', finishedAtMs: this.#options.nowMs() });
    this.#running.delete(id);
  }

  #masked<T>({ project }: PipelineRun, told: T): T {
    return masked(told, this.#options.secretsOf?.(project.id) ?? []);
  }

  async #keep(run: PipelineRun): Promise<void> {
    await this.#options.log.put(run.id, run);
    this.#options.onChange?.(run);
  }
}

/** The newest lines of a log, within both limits, and at least the last. */
function newest(lines: readonly string[]): string[] {
  let [first, bytes] = [lines.length, 0];
  while (first > 0 && lines.length - first < MAX_LOG_LINES) {
    bytes += bytesOfText(lines[first - 1] ?? '');
    if (bytes > MAX_LOG_BYTES && first < lines.length) break;
    first -= 1;
  }
  return lines.slice(first);
}
