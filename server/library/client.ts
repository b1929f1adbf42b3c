import { failure } from './failure.ts';

/** Calls the platform as root, over HTTP, as any client does. */
export class Client {
  readonly #baseUrl: string;
  readonly #authorization: string;
  readonly #stopping = new AbortController();

  constructor(baseUrl: string, { key, secret }: { key: string; secret: string }) {
    this.#baseUrl = baseUrl;
    this.#authorization = `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`;
  }

  /**
   * @param path below `{base_url}`
   * @param body sent as JSON unless a type is given with it
   * @returns the JSON of the answer, trusted to be what the API's document says: it is this very process that answers
   * @throws TerrariumError `NOT_FOUND`, `REFUSED`, `STOPPED`
   */
  // biome-ignore lint/suspicious/noExplicitAny: the type of each answer stands where it is handed on
  async json(method: string, path: string, body?: unknown, type = 'application/json'): Promise<any> {
    const response = await this.#fetch(method, path, body, type);
    const text = await response.text();
    const answer = text === '' ? undefined : JSON.parse(text);
    if (response.ok) return answer;
    const { status } = response;
    const what = `${method} ${path}: ${answer?.message ?? response.statusText}`;
    throw failure(status === 404 ? 'NOT_FOUND' : 'REFUSED', what, { status });
  }

  /** From now on every call, and whatever waits for an answer, fails with code `STOPPED`. */
  stop(): void {
    this.#stopping.abort();
  }

  async #fetch(method: string, path: string, body: unknown, type: string): Promise<Response> {
    const { signal } = this.#stopping;
    const headers = { Authorization: this.#authorization, ...(body !== undefined && { 'Content-Type': type }) };
    try {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      return await fetch(`${this.#baseUrl}${path}`, { method, headers, signal, ...sent });
    } catch (cause) {
      if (signal.aborted) throw failure('STOPPED', 'this platform was stopped: start another one', { cause });
      throw cause;
    }
  }
}
