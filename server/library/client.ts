import { setMaxListeners } from 'node:events';
import { findByName } from '../api/client/find-lambda.ts';
import { jsonBody, type KeyPair, type RefusedCall, RowClient } from '../api/client/route-client.ts';
import { requestText } from '../api/client/send-request.ts';
import { jsonIn } from '../model/json.ts';
import type { Reply } from './api.ts';
import { failure } from './arguments.ts';

/** Calls the platform as root over HTTP; throws TerrariumError `NOT_FOUND`, `REFUSED`, `STOPPED`. */
export class Client extends RowClient {
  readonly #stopping: AbortController;

  constructor(baseUrl: string, keyPair: KeyPair) {
    const stopping = new AbortController();
    // Each pending request listens to it.
    setMaxListeners(0, stopping.signal);
    // The test's own limit applies to invocations.
    super(baseUrl, () => keyPair, { timeoutMs: Number.POSITIVE_INFINITY, signal: stopping.signal });
    this.#stopping = stopping;
  }

  /** Lets all pending and later calls fail with code `STOPPED`. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Sends a request as root and returns the response, whatever its status. @param path below `{base_url}` */
  async reply(method: string, path: string, body?: unknown): Promise<Reply> {
    if (!path.startsWith('/')) throw failure('REFUSED', `the path of a request begins with '/'; not '${path}'`);
    const url = `${this.baseUrl}${path}`;
    const headers = { Accept: 'application/json', ...(this.authorization && { Authorization: this.authorization }) };
    const { signal } = this.#stopping;
    const content = body === undefined ? undefined : jsonBody(body).body;
    const {
      status,
      headers: received,
      text,
    } = await requestText(url, {
      method,
      headers: { ...headers, ...(content && { 'Content-Type': content.type }) },
      body: content?.content,
      signal,
      limits: { bytes: Number.POSITIVE_INFINITY },
      linkLocal: 'all',
    }).catch((cause: Error) => {
      throw this.failed(`${url} does not respond: ${cause.message}`, cause);
    });
    return { status, headers: received, body: jsonIn(text) ?? text };
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

export const findLambda = async (client: Client, named: string) => {
  if (typeof named !== 'string') throw failure('REFUSED', 'the name, path or id of a lambda must be a text');
  return findByName(client, ['lambdas'], named, (reason, isAmbiguous) =>
    failure(isAmbiguous ? 'AMBIGUOUS' : 'NOT_FOUND', reason, isAmbiguous ? {} : { reason: 'not_found' }),
  );
};
