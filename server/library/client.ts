import { findLambdaBy } from '../api/client/find-lambda.ts';
import { type KeyPair, type RefusedCall, RowClient } from '../api/client/route-client.ts';
import { jsonIn } from '../model/json.ts';
import { failure } from './failure.ts';

/** Calls the platform as root over HTTP; throws TerrariumError `NOT_FOUND`, `REFUSED`, `STOPPED`. */
export class Client extends RowClient {
  readonly #stopping: AbortController;

  constructor(baseUrl: string, keyPair: KeyPair) {
    const stopping = new AbortController();
    // The test's own limit applies to invocations.
    super(baseUrl, () => keyPair, { timeoutMs: Number.POSITIVE_INFINITY, signal: stopping.signal });
    this.#stopping = stopping;
  }

  /** Lets all pending and later calls fail with code `STOPPED`. */
  stop(): void {
    this.#stopping.abort();
  }

  protected refused({ method, path, status, statusText, text }: RefusedCall): Error {
    const { message = statusText, reason } = Object(jsonIn(text));
    return failure(status === 404 ? 'NOT_FOUND' : 'REFUSED', `${method} ${path}: ${message}`, { status, reason });
  }

  protected failed(reason: string, cause?: unknown): Error {
    return this.#stopping.signal.aborted
      ? failure('STOPPED', 'this platform was stopped. Start a new one.', { cause })
      : failure('REFUSED', reason, { cause });
  }
}

export const findLambda = (client: Client, named: string) =>
  findLambdaBy(client, named, (reason, isAmbiguous) =>
    failure(isAmbiguous ? 'AMBIGUOUS' : 'NOT_FOUND', reason, isAmbiguous ? {} : { reason: 'not_found' }),
  );
