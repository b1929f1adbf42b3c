import { PlatformError } from '../model/errors.ts';
import { heldBytes } from '../model/held-bytes.ts';
import type { Uuid } from '../model/ids.ts';
import type { Invocation } from '../model/invocation.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import { contentTypeOf } from './lambda-answer.ts';
import type { GatewayLimits } from './limits.ts';

/** An asynchronous call that was accepted and has not ended. */
export interface PendingResult {
  state: 'pending';
  lambdaId: Uuid;
  acceptedAtMs: number;
}

/** What an asynchronous call came to (D-166, D-167). */
export interface FinishedResult {
  state: 'finished';
  lambdaId: Uuid;
  acceptedAtMs: number;
  finishedAtMs: number;
  contentType: string;
  result: string;
  /** Only of a failed one. */
  error?: string;
}

/** How often to try again to write results that the disk had no room for. */
const WRITE_AGAIN_MS = 1000;
/** How much of such results is kept in memory before no more calls are accepted. */
const MAX_UNWRITTEN_BYTES = 64 * 1024 * 1024;

/** A durable record of an asynchronous call, keyed by its execution id. */
export type StoredResult = PendingResult | FinishedResult;

/**
 * The results of asynchronous calls: journaled on acceptance (D-168), kept for a time, at most so many per lambda (D-169), and
 * all together no more than memory can hold.
 * One that cannot be written is told from memory, and written as soon as that goes.
 */
export class AsyncResults {
  readonly #log: KeyedLog<StoredResult>;
  readonly #limits: Pick<GatewayLimits, 'resultsPerLambda' | 'resultsBytes' | 'resultLifetimeS'>;
  readonly #nowMs: () => number;
  /** Execution ids of a lambda's finished results in the order they finished: a Set, so that any goes at no cost. */
  readonly #finished = new Map<Uuid, Set<Uuid>>();
  readonly #latest = new Map<Uuid, Uuid>();
  /** Results that are not durable yet, the oldest first. */
  readonly #unwritten = new Map<Uuid, FinishedResult>();
  #unwrittenBytes = 0;
  /** Of all results, written or not. */
  readonly #sizes = new Map<Uuid, number>();
  #sizeBytes = 0;
  #writeAgain: NodeJS.Timeout | undefined;

  constructor(
    log: KeyedLog<StoredResult>,
    limits: Pick<GatewayLimits, 'resultsPerLambda' | 'resultsBytes' | 'resultLifetimeS'>,
    nowMs: () => number,
  ) {
    this.#log = log;
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** Takes over what an earlier run left: its pending calls ended with it and become failed results (D-168). */
  async recover(): Promise<void> {
    const entries = [...this.#log.entries()];
    const done = entries.flatMap(([id, one]) => (one.state === 'finished' ? [{ id, one }] : []));
    for (const { id, one } of done.sort((a, b) => a.one.finishedAtMs - b.one.finishedAtMs)) this.#index(id, one);
    const message = 'the emulator stopped before this invocation ended, or before its result could be saved';
    const failure = { contentType: 'text/plain; charset=utf-8', result: message, error: message };
    const interrupted = entries.filter(([, one]) => one.state === 'pending');
    await Promise.all(interrupted.map(([id, one]) => this.#finish(id, one, failure)));
  }

  /** Records a call as accepted; resolves when that is durable. Rejects with PlatformError 503 when it cannot be saved. */
  async accept(executionId: Uuid, lambdaId: Uuid): Promise<void> {
    if (this.#unwrittenBytes > MAX_UNWRITTEN_BYTES) {
      const count = this.#unwritten.size;
      throw new PlatformError(
        503,
        `${count} results of asynchronous calls could not be saved yet and wait in memory: no more calls are accepted until ` +
          'there is room on the disk. Free some space, then repeat the request; the lambda was not run.',
      );
    }
    await this.#log.put(executionId, { state: 'pending', lambdaId, acceptedAtMs: this.#nowMs() });
  }

  /** Records the end of an accepted call; resolves when that is durable, or waits in memory until it can be. */
  async finish(executionId: Uuid, invocation: Invocation): Promise<void> {
    const accepted = this.#log.get(executionId);
    if (accepted) await this.#finish(executionId, accepted, resultOf(invocation));
  }

  /** The record of a call by its execution id; undefined when there is none, or none any more. */
  find(executionId: Uuid): StoredResult | undefined {
    const stored = this.#unwritten.get(executionId) ?? this.#log.get(executionId);
    return stored && !this.#isExpired(stored) ? stored : undefined;
  }

  /** The result of a lambda that finished last, with its execution id. */
  findLatest(lambdaId: Uuid): { executionId: Uuid; finished: FinishedResult } | undefined {
    const executionId = this.#latest.get(lambdaId);
    const finished = executionId === undefined ? undefined : this.find(executionId);
    return executionId !== undefined && finished?.state === 'finished' ? { executionId, finished } : undefined;
  }

  async #finish(id: Uuid, accepted: StoredResult, end: Pick<FinishedResult, 'contentType' | 'result' | 'error'>) {
    const { lambdaId, acceptedAtMs } = accepted;
    const finished: FinishedResult = { state: 'finished', lambdaId, acceptedAtMs, finishedAtMs: this.#nowMs(), ...end };
    this.#index(id, finished);
    this.#unwritten.set(id, finished);
    this.#unwrittenBytes += heldBytes(finished);
    await this.#write(id, finished);
    // What cannot be removed from a full disk goes at the next start.
    await Promise.allSettled(this.#surplus(lambdaId, id).map((old) => this.#log.remove(old)));
  }

  /** Tries once more to write what could not be written, and leaves it at that: what is still not durable is lost. */
  async stop(): Promise<void> {
    await this.#writeAll();
    clearTimeout(this.#writeAgain);
  }

  /** Never rejects. */
  async #write(id: Uuid, finished: FinishedResult): Promise<void> {
    try {
      await this.#log.put(id, finished);
    } catch {
      // The log says itself why it fails, to whoever asks for the platform's health.
      this.#writeAgain ??= setTimeout(() => {
        this.#writeAgain = undefined;
        void this.#writeAll();
      }, WRITE_AGAIN_MS).unref();
      return;
    }
    if (!this.#unwritten.delete(id)) return;
    this.#unwrittenBytes -= heldBytes(finished);
  }

  async #writeAll(): Promise<void> {
    // One after the other: a disk may have room for some of them.
    for (const [id, finished] of this.#unwritten) await this.#write(id, finished);
  }

  #index(id: Uuid, finished: FinishedResult): void {
    const { lambdaId } = finished;
    const sizeBytes = heldBytes(finished);
    this.#sizes.set(id, sizeBytes);
    this.#sizeBytes += sizeBytes;
    const ids = this.#finished.get(lambdaId) ?? new Set();
    this.#finished.set(lambdaId, ids.add(id));
    this.#latest.set(lambdaId, id);
  }

  /** Takes out of the indexes what has to go: the oldest of this lambda above its cap, of all the oldest past their time or too heavy. */
  #surplus(lambdaId: Uuid, newest: Uuid): Uuid[] {
    const gone: Uuid[] = [];
    const own = this.#finished.get(lambdaId);
    for (const id of own ?? []) {
      if ((own?.size ?? 0) <= this.#limits.resultsPerLambda) break;
      own?.delete(id);
      this.#weighNoMore(id);
      gone.push(id);
    }
    for (const [id, stored] of this.#log.entries()) {
      const areTooMuch = this.#sizeBytes > this.#limits.resultsBytes;
      if (!areTooMuch && !this.#isExpired(stored)) break;
      if (stored.state === 'pending' || id === newest) continue;
      this.#finished.get(stored.lambdaId)?.delete(id);
      this.#weighNoMore(id);
      gone.push(id);
    }
    return gone;
  }

  #weighNoMore(id: Uuid): void {
    this.#sizeBytes -= this.#sizes.get(id) ?? 0;
    this.#sizes.delete(id);
  }

  #isExpired(stored: StoredResult): boolean {
    return stored.state === 'finished' && this.#nowMs() >= stored.finishedAtMs + this.#limits.resultLifetimeS * 1000;
  }
}

/** Result and error as strings (D-166, D-167). */
function resultOf({ outcome, accept }: Invocation): Pick<FinishedResult, 'contentType' | 'result' | 'error'> {
  const text = outcome.value.kind === 'nothing' ? '' : Buffer.from(outcome.value.bytes).toString();
  if (outcome.ok) return { contentType: contentTypeOf(outcome.value, accept), result: text };
  const result = outcome.value.kind === 'text' ? text : outcome.message;
  return { contentType: contentTypeOf({ kind: 'nothing' }, accept), result, error: outcome.message };
}
