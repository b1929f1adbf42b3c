import { z } from 'zod';
import { type Change, type Commit, proofOf } from '../../model/commit.ts';
import { PlatformError } from '../../model/errors.ts';
import type { ExchangeRecord } from '../../model/exchange-record.ts';
import { bytesOfText } from '../../model/held-bytes.ts';
import { jsonIn } from '../../model/json.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import type { PipelineDeployment, PipelineProgress, PipelineRun, PipelineStart } from '../../model/pipeline-run.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { masked } from '../../model/rules/mask.ts';
import { clockFrom } from '../../system/clock.ts';

const MAX_LOG_LINES = 5_000;
/** Limit of one run's log in memory. */
const MAX_LOG_BYTES = 4 * 1024 * 1024;
const MAX_DEPLOYMENTS = 20;
/** Traces whose run is not known yet: a lambda acts before the request that invoked it has ended. */
const MAX_TRACES = 100;

export interface PipelineRunsOptions {
  log: KeyedLog<PipelineRun>;
  nowMs(): number;
  /** The clock by which runs last; it includes the time in which the machine slept. */
  steadyMs(): number;
  newId(): string;
  /** Values of a project that no record may show. */
  secretsOf?(projectId: number): readonly string[];
  findContainer?(id: Uuid): StoredResource | undefined;
  endpointsOf?(container: StoredResource): readonly StoredResource[];
  onChange?(run: PipelineRun): void;
  onDeployment?(run: PipelineRun, deployment: PipelineDeployment): void;
}

/** The newest runs of pipelines, as their runners tell of them. */
export class PipelineRuns {
  readonly #options: PipelineRunsOptions;
  /** The runs under way, each with the clock of its times. */
  readonly #running = new Map<string, () => number>();
  /** The containers that a trace's requests changed, and the run that it belongs to, by trace. */
  readonly #traces = new Map<string, { containers: Set<Uuid>; runId?: string }>();

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
    if (!run) throw new PlatformError('not_found', `pipeline run ${id} not found`);
    return run;
  }

  async begin(start: PipelineStart): Promise<PipelineRun> {
    const { newId, steadyMs } = this.#options;
    const startedAtMs = this.#options.nowMs();
    const ofProject = this.list().filter(({ project }) => project.id === start.project.id);
    const iid = Math.max(0, ...ofProject.map((run) => run.iid ?? 0)) + 1;
    const run: PipelineRun = { ...start, id: newId(), iid, state: 'running', startedAtMs, log: [] };
    await this.#keep(run);
    this.#running.set(run.id, clockFrom(startedAtMs, steadyMs));
    return run;
  }

  /** Throws 404; 409 for a run that has ended. */
  async progress(id: string, reported: PipelineProgress): Promise<PipelineRun> {
    const run = this.get(id);
    const { log, ...change } = this.#masked(run, reported);
    if (run.state !== 'running')
      throw new PlatformError('invalid_state', `pipeline run ${id} has ended: it is ${run.state}`);
    const lines = newest([...run.log, ...log]);
    const isOver = change.state !== 'running';
    const changed = { ...run, ...change, log: lines, ...(isOver && { finishedAtMs: this.#timeIn(run) }) };
    await this.#keep(changed);
    if (isOver) this.#running.delete(id);
    return changed;
  }

  /** A request to the gateway may be from a run; resolves when it is stored with that run. Called for every request. */
  readonly sawExchange = (exchange: ExchangeRecord): Promise<void> | undefined =>
    this.#running.size === 0 ? undefined : this.#addExchange(exchange);

  async #addExchange(exchange: ExchangeRecord): Promise<void> {
    for (const id of this.#running.keys()) if (!this.#options.log.get(id)) this.#running.delete(id); // others have taken its place
    const running = this.#runs();
    // Two runs of one commit ask for the same: each by a key of its own.
    const byKey = running.filter(({ apiKey }) => apiKey !== undefined && apiKey === exchange.apiKey);
    const [owner] = byKey;
    if (owner && exchange.traceId !== undefined) {
      const trace = this.#trace(exchange.traceId);
      trace.runId = owner.id;
      await this.#noteChanged(owner.id, trace.containers);
    }
    for (const { id } of byKey.length > 0 ? byKey : running) {
      const run = this.get(id);
      const deployment = deploymentIn(exchange, run);
      if (!deployment) continue;
      const maskedDeployment = this.#masked(run, deployment);
      await this.#keep({ ...run, deployments: [...(run.deployments ?? []), maskedDeployment].slice(-MAX_DEPLOYMENTS) });
      this.#options.onDeployment?.(run, maskedDeployment);
    }
  }

  /** A commit may be one that a run has made, by its key or by a lambda that it called. */
  async sawCommit({ cause }: Commit, changes: readonly Change[]): Promise<void> {
    if (this.#running.size === 0) return;
    const containers = new Set(changes.flatMap(({ before, after }) => containersIn(after ?? before)));
    if (containers.size === 0) return;
    const { apiKey, traceId } = proofOf(cause);
    const byKey = this.#runs().find((run) => run.apiKey !== undefined && run.apiKey === apiKey);
    const trace = traceId === undefined ? undefined : this.#trace(traceId);
    for (const id of containers) trace?.containers.add(id);
    const runId = byKey?.id ?? trace?.runId;
    if (runId !== undefined) await this.#noteChanged(runId, containers);
  }

  #runs(): PipelineRun[] {
    return [...this.#running.keys()].flatMap((id) => this.#options.log.get(id) ?? []);
  }

  #trace(traceId: string) {
    const trace = this.#traces.get(traceId) ?? { containers: new Set<Uuid>() };
    this.#traces.set(traceId, trace);
    for (const oldest of this.#traces.keys()) if (this.#traces.size > MAX_TRACES) this.#traces.delete(oldest);
    return trace;
  }

  async #noteChanged(runId: string, containers: ReadonlySet<Uuid>): Promise<void> {
    const run = this.#options.log.get(runId);
    if (run?.state !== 'running' || containers.size === 0) return;
    const { findContainer, endpointsOf } = this.#options;
    const otherContainers = (run.changed ?? []).filter(({ id }) => !containers.has(id));
    const changed = [...containers].flatMap((containerId) => {
      const found = findContainer?.(containerId);
      if (!found) return [];
      const endpointIds = endpointsOf?.(found).map(({ id }) => id) ?? [];
      return [{ id: found.id, name: found.name, endpointIds }];
    });
    await this.#keep({ ...run, changed: [...otherContainers, ...changed] });
  }

  /** Ends the runs that were running when the platform stopped: nothing reports their progress any more. */
  async settle(): Promise<void> {
    for (const [id, run] of [...this.#options.log.entries()]) {
      if (this.#running.has(id) || run.state !== 'running') continue;
      const jobs = run.jobs.map((job) => (job.state === 'running' ? { ...job, state: 'failed' as const } : job));
      const log = [...run.log, 'The platform stopped while this pipeline was running. Its result is not known.'];
      await this.#keep({ ...run, jobs, log, state: 'canceled', finishedAtMs: this.#timeIn(run) });
    }
  }

  /** Returns the present time for a run's record, not before its start: the clock may have been set while no platform ran. */
  #timeIn({ id, startedAtMs }: PipelineRun): number {
    return Math.max(startedAtMs, (this.#running.get(id) ?? this.#options.nowMs)());
  }

  #masked<T>({ project }: PipelineRun, reported: T): T {
    return masked(reported, this.#options.secretsOf?.(project.id) ?? []);
  }

  async #keep(run: PipelineRun): Promise<void> {
    await this.#options.log.put(run.id, run);
    this.#options.onChange?.(run);
  }
}

/** The container that a changed record is or leads to. */
function containersIn(record: StoredResource | undefined): Uuid[] {
  if (!record) return [];
  const { collection } = typeOf(record);
  if (collection === 'containers') return [record.id];
  const { implementation_id: target } = record.properties;
  return collection === 'apiendpoints' && typeof target === 'string' ? [target.toLowerCase()] : [];
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

const MAX_PROBLEM_CHARACTERS = 2_000;

const action = z.enum(['deploy', 'stop']).optional().catch(undefined);
const text = z.string().optional().catch(undefined);
/** The parts of a deployment endpoint's request and response that are shown; users can have their own endpoints. */
const requestBody = z.looseObject({ action, image: text, ref: text, sha: text });
const answerBody = z.looseObject({
  action,
  container: z.looseObject({ id: z.string(), name: z.string() }).optional().catch(undefined),
  endpoint: z.looseObject({ id: z.string(), public_url: z.string() }).optional().catch(undefined),
  scm: z
    .looseObject({ environment_url_updated: z.boolean().optional(), merge_request_note_id: z.int().optional() })
    .optional()
    .catch(undefined),
  code: z.int().optional().catch(undefined),
  message: text,
});

/** The request as a deployment of the run; undefined when the run did not cause it. */
function deploymentIn(exchange: ExchangeRecord, run: PipelineRun): PipelineDeployment | undefined {
  const { atMs, durationMs, status, target, endpointId, executionId } = exchange;
  if (exchange.plane !== 'gateway' || run.deployUrl === undefined || atMs < run.startedAtMs) return undefined;
  const path = target.split('?', 1)[0] ?? '';
  if (path !== new URL(run.deployUrl).pathname) return undefined;
  const requestedDeployment = requestBody.safeParse(jsonIn(new TextDecoder().decode(exchange.requestBody?.bytes))).data;
  // By another key, such as one of the project, only the body tells several runs apart.
  const isOther =
    (requestedDeployment?.sha ?? run.sha) !== run.sha || (requestedDeployment?.ref ?? run.branch) !== run.branch;
  const isByKey = run.apiKey !== undefined && exchange.apiKey === run.apiKey;
  if (!isByKey && isOther) return undefined;
  const reported = answerBody.safeParse(jsonIn(new TextDecoder().decode(exchange.responseBody?.bytes))).data ?? {};
  // A lambda that sets no status reports a failure in its result.
  const isRefused = (status ?? 500) >= 400 || (reported.code ?? 0) >= 400;
  const problem = reported.message ?? `it answered ${status ?? 'nothing'}`;
  return {
    atMs,
    durationMs,
    target: path,
    status,
    code: reported.code,
    action: reported.action ?? requestedDeployment?.action,
    image: requestedDeployment?.image,
    endpointId,
    executionId,
    container: reported.container && { id: reported.container.id, name: reported.container.name },
    published: reported.endpoint && { id: reported.endpoint.id, url: reported.endpoint.public_url },
    noteId: reported.scm?.merge_request_note_id,
    isEnvironmentTold: reported.scm?.environment_url_updated,
    problem: isRefused ? problem.slice(0, MAX_PROBLEM_CHARACTERS) : undefined,
  };
}
