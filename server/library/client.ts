import { RowClient, type Sent } from '../contract/row-client.ts';
import { jsonIn } from '../model/json.ts';
import { failure } from './failure.ts';

/** Calls the platform as root, over HTTP, as any client does; throws TerrariumError `NOT_FOUND`, `REFUSED`, `STOPPED`. */
export class Client extends RowClient {
  readonly baseUrl: string;
  readonly #authorization: string;
  readonly #stopping = new AbortController();

  constructor(baseUrl: string, { key, secret }: { key: string; secret: string }) {
    super();
    this.baseUrl = baseUrl;
    this.#authorization = `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`;
  }

  async text(method: string, path: string, { body }: Sent = {}): Promise<string> {
    const { signal } = this.#stopping;
    const headers = { Authorization: this.#authorization, ...(body && { 'Content-Type': body.type }) };
    const sent = { method, headers, signal, ...(body && { body: body.content }) };
    const response = await fetch(`${this.baseUrl}${path}`, sent).catch((cause: unknown) => {
      if (signal.aborted) throw failure('STOPPED', 'this platform was stopped: start another one', { cause });
      throw cause;
    });
    const text = await response.text();
    if (response.ok) return text;
    const { status, statusText } = response;
    const what = `${method} ${path}: ${Object(jsonIn(text)).message ?? statusText}`;
    throw failure(status === 404 ? 'NOT_FOUND' : 'REFUSED', what, { status });
  }

  /** From now on every call, and whatever waits for an answer, fails with code `STOPPED`. */
  stop(): void {
    this.#stopping.abort();
  }

  protected notUnderstood(reason: string): Error {
    return failure('REFUSED', reason);
  }
}
