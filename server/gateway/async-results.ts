import { PlatformError } from '../model/errors.ts';
import { heldBytes } from '../model/held-bytes.ts';
import type { Invocation, LambdaCall, LambdaInvoker } from '../model/invocation.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import type { Uuid } from '../model/record.ts';
import { Lifetimes } from '../system/lifetimes.ts';
import { type Answer, jsonAnswer } from './exchange.ts';
import type { GatewayLimits } from './gateway-limits.ts';
import { contentTypeOf, failureAnswer } from './lambda-call.ts';

export interface FinishedResult {
  state: 'finished';
  lambdaId: Uuid;
  acceptedAtMs: number;
  finishedAtMs: number;
  contentType: string;
  result: string;
  isBase64Encoded?: true;
  error?: string;
}

type ResultFacts = Pick<FinishedResult, 'contentType' | 'result' | 'isBase64Encoded' | 'error'>;

const WRITE_AGAIN_MS = 1000;
/** Size of unsaved results in memory above which no more invocations are accepted. */
const MAX_UNWRITTEN_BYTES = 64 * 1024 * 1024;

/** A durable record of an asynchronous invocation, keyed by its execution id. */
export type StoredResult = { state: 'pending'; lambdaId: Uuid; acceptedAtMs: number } | FinishedResult;

/**
 * Results of asynchronous invocations: journaled on acceptance (D-168), kept within limits (D-169). A finished result becomes visible once it
 * is on disk, so that no power cut takes it back, or once the disk has rejected it: it is then in memory and saved later.
 */
export class AsyncResults {
  readonly #log: KeyedLog<StoredResult>;
  readonly #limits: Pick<GatewayLimits, 'resultsPerLambda' | 'resultsBytes' | 'resultLifetimeS'>;
  readonly #lifetimes: Lifetimes;
  readonly #nowMs: () => number;
  /** Execution ids of a lambda's finished results in the order they finished. A Set, so that removal is cheap. */
  readonly #finished = new Map<Uuid, Set<Uuid>>();
  readonly #latest = new Map<Uuid, Uuid>();
  /** Records of acceptance of invocations whose results the disk has neither saved nor rejected. */
  readonly #writing = new Map<Uuid, StoredResult>();
  readonly #unwritten = new Map<Uuid, FinishedResult>();
  #unwrittenBytes = 0;
  readonly #sizes = new Map<Uuid, number>();
  #sizeBytes = 0;
  #retryTimer: NodeJS.Timeout | undefined;

  constructor(
    log: KeyedLog<StoredResult>,
    limits: Pick<GatewayLimits, 'resultsPerLambda' | 'resultsBytes' | 'resultLifetimeS'>,
    nowMs: () => number,
    steadyMs: () => number,
  ) {
    this.#log = log;
    this.#limits = limits;
    this.#lifetimes = new Lifetimes(limits.resultLifetimeS * 1000, nowMs, steadyMs);
    this.#nowMs = nowMs;
  }

  /** Loads the stored results. Invocations that an earlier run did not finish become failed results (D-168). */
  async recover(): Promise<void> {
    const entries = [...this.#log.entries()];
    const done = entries.flatMap(([id, result]) => (result.state === 'finished' ? [{ id, one: result }] : []));
    for (const { id, one: result } of done.sort((a, b) => a.one.finishedAtMs - b.one.finishedAtMs)) {
      this.#index(id, result);
      this.#latest.set(result.lambdaId, id);
    }
    const message = 'the platform stopped before this invocation ended, or before its result could be saved';
    const failure = { contentType: 'text/plain; charset=utf-8', result: message, error: message };
    await this.#settle();
    const interrupted = entries.filter(([, result]) => result.state === 'pending');
    await Promise.all(interrupted.map(([id, result]) => this.#finish(id, result, failure)));
  }

  /** Records an accepted invocation; resolves when the record is durable. Rejects with PlatformError 503 if it cannot be saved. */
  async accept(executionId: Uuid, lambdaId: Uuid): Promise<void> {
    if (this.#unwrittenBytes > MAX_UNWRITTEN_BYTES) {
      const count = this.#unwritten.size;
      throw new PlatformError(
        'disk_full',
        `the disk is full: ${count} asynchronous results are waiting to be saved. The lambda was not run. Free some disk space and ` +
          'retry.',
      );
    }
    await this.#log.put(executionId, { state: 'pending', lambdaId, acceptedAtMs: this.#nowMs() });
  }

  /** Records the end of an accepted invocation; resolves when it is durable or waits in memory. */
  async finish(executionId: Uuid, invocation: Invocation): Promise<void> {
    const accepted = this.#log.get(executionId);
    if (accepted) await this.#finish(executionId, accepted, resultOf(invocation));
  }

  find(executionId: Uuid): StoredResult | undefined {
    const stored = this.#writing.get(executionId) ?? this.#unwritten.get(executionId) ?? this.#log.get(executionId);
    return stored && !this.#isExpired(executionId, stored) ? stored : undefined;
  }

  findLatest(lambdaId: Uuid): { executionId: Uuid; finished: FinishedResult } | undefined {
    const executionId = this.#latest.get(lambdaId);
    const finished = executionId === undefined ? undefined : this.find(executionId);
    return executionId !== undefined && finished?.state === 'finished' ? { executionId, finished } : undefined;
  }

  async #finish(id: Uuid, accepted: StoredResult, end: ResultFacts) {
    const { lambdaId, acceptedAtMs } = accepted;
    const finishedAtMs = this.#lifetimes.begin(id).startsAtMs;
    const finished: FinishedResult = { state: 'finished', lambdaId, acceptedAtMs, finishedAtMs, ...end };
    this.#index(id, finished);
    this.#unwritten.set(id, finished);
    this.#unwrittenBytes += heldBytes(finished);
    this.#writing.set(id, accepted);
    await this.#write(id, finished);
    this.#writing.delete(id);
    this.#latest.set(lambdaId, id);
    // What cannot be removed from a full disk is removed at the next start.
    await Promise.allSettled(this.#surplus(lambdaId, id).map((old) => this.#log.remove(old)));
  }

  async stop(): Promise<void> {
    await this.#writeAll();
    clearTimeout(this.#retryTimer);
    // A disk without space is reported by the log itself.
    await this.#settle().catch(() => undefined);
  }

  #settle(): Promise<void> {
    const { lifetimeMs } = this.#lifetimes;
    return this.#lifetimes.settle<StoredResult>(this.#log, {
      read: (stored) => (stored.state === 'finished' ? stored.finishedAtMs + lifetimeMs : undefined),
      replace: (stored, endsAtMs) => ({ ...stored, finishedAtMs: endsAtMs - lifetimeMs }) as StoredResult,
    });
  }

  async #write(id: Uuid, finished: FinishedResult): Promise<void> {
    try {
      await this.#log.put(id, finished);
    } catch {
      // The log itself reports the failure in the health of the platform.
      this.#retryTimer ??= setTimeout(() => {
        this.#retryTimer = undefined;
        void this.#writeAll();
      }, WRITE_AGAIN_MS).unref();
      return;
    }
    if (!this.#unwritten.delete(id)) return;
    this.#unwrittenBytes -= heldBytes(finished);
  }

  async #writeAll(): Promise<void> {
    // One at a time: the disk may have space for some of them.
    for (const [id, finished] of this.#unwritten) await this.#write(id, finished);
  }

  #index(id: Uuid, finished: FinishedResult): void {
    const { lambdaId } = finished;
    const sizeBytes = heldBytes(finished);
    this.#sizes.set(id, sizeBytes);
    this.#sizeBytes += sizeBytes;
    const ids = this.#finished.get(lambdaId) ?? new Set();
    this.#finished.set(lambdaId, ids.add(id));
  }

  /** Takes from the indexes: the oldest of this lambda above its limit, and of all what is too old or exceeds the total size. */
  #surplus(lambdaId: Uuid, newest: Uuid): Uuid[] {
    const droppedIds: Uuid[] = [];
    const finishedIds = this.#finished.get(lambdaId);
    for (const id of finishedIds ?? []) {
      if ((finishedIds?.size ?? 0) <= this.#limits.resultsPerLambda) break;
      finishedIds?.delete(id);
      this.#releaseSize(id);
      droppedIds.push(id);
    }
    for (const [id, stored] of this.#log.entries()) {
      const isOverLimit = this.#sizeBytes > this.#limits.resultsBytes;
      if (!isOverLimit && !this.#isExpired(id, stored)) break;
      if (stored.state === 'pending' || id === newest) continue;
      this.#finished.get(stored.lambdaId)?.delete(id);
      this.#releaseSize(id);
      droppedIds.push(id);
    }
    return droppedIds;
  }

  #releaseSize(id: Uuid): void {
    this.#sizeBytes -= this.#sizes.get(id) ?? 0;
    this.#sizes.delete(id);
    this.#lifetimes.forget(id);
  }

  #isExpired(id: Uuid, stored: StoredResult): boolean {
    return stored.state === 'finished' && this.#lifetimes.isOver(id, stored.finishedAtMs + this.#lifetimes.lifetimeMs);
  }
}

/** Result and error as strings (D-166, D-167). */
function resultOf({ outcome, accept }: Invocation): ResultFacts {
  const text = outcome.value.kind === 'nothing' ? '' : Buffer.from(outcome.value.bytes).toString();
  if (outcome.ok) {
    const contentType = contentTypeOf(outcome.value, accept);
    if (outcome.value.kind !== 'bytes') return { contentType, result: text };
    return { contentType, result: Buffer.from(outcome.value.bytes).toString('base64'), isBase64Encoded: true };
  }
  const result = outcome.value.kind === 'text' ? text : outcome.message;
  return { contentType: contentTypeOf({ kind: 'nothing' }, accept), result, error: outcome.message };
}

export class AsyncCalls {
  readonly #invoker: LambdaInvoker;
  readonly #results: AsyncResults;
  readonly #onFault: (fault: unknown) => void;
  readonly #running = new Set<Promise<void>>();

  constructor(invoker: LambdaInvoker, results: AsyncResults, onFault: (fault: unknown) => void) {
    this.#invoker = invoker;
    this.#results = results;
    this.#onFault = onFault;
  }

  /** Starts an invocation, and responds with its id when that is durable (D-164, D-168). What cannot be saved does not run. */
  async accept(lambdaId: Uuid, call: LambdaCall): Promise<Answer> {
    const refusal = this.#invoker.refusal(lambdaId);
    if (refusal && !refusal.ok) return failureAnswer(refusal);
    const { executionId } = call;
    // Reserve the place in the queue while the acceptance is written, so that concurrent calls count it.
    const letGo = this.#invoker.reserveSlot(lambdaId);
    await this.#results.accept(executionId, lambdaId).finally(letGo);
    const running = this.#runToEnd(lambdaId, call);
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
    const answer = jsonAnswer(200, { lambdaId: executionId }, ['Location', `/results/${executionId}`]);
    return { ...answer, executionId };
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #runToEnd(lambdaId: Uuid, call: LambdaCall): Promise<void> {
    try {
      await this.#results.finish(call.executionId, await this.#invoker.invoke(lambdaId, call));
    } catch (fault) {
      this.#onFault(fault); // its caller already got a response
    }
  }
}
