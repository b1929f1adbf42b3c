import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as NetServer } from 'node:net';
import { PlatformError } from '../model/errors.ts';

/** How long requests under way may go on, counted from the moment that the platform is asked to stop. */
const DRAIN_MS = 4_000;
/** How long they may then still take to be answered, when nothing can be changed any more. */
const LAST_ANSWERS_MS = 500;

/** Methods that change nothing. */
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * The end of the control plane, in two steps, so that every change it makes is acknowledged to whoever asked for it. From
 * `begin` on it takes no more changes, and says with each answer that the connection closes; lambdas that end their work
 * meanwhile can still read. `end` then stops listening, lets what is under way end, and closes all connections.
 */
export class WindDown {
  readonly #open = new Set<ServerResponse>();
  readonly #events = new EventEmitter();
  #beganAtMs: number | undefined;

  /** To be told of every request before it is answered. Throws PlatformError 503 for a change that comes too late. */
  admit(request: IncomingMessage, response: ServerResponse): void {
    this.#open.add(response);
    response.once('close', () => {
      this.#open.delete(response);
      this.#events.emit('closed');
    });
    if (this.#beganAtMs === undefined) return;
    response.setHeader('Connection', 'close');
    if (READING.has(request.method ?? '')) return;
    throw new PlatformError(503, 'The platform is stopping: the change was not made. Repeat it when it runs again.');
  }

  begin(): void {
    this.#beganAtMs ??= performance.now();
    for (const response of this.#open) if (!response.headersSent) response.setHeader('Connection', 'close');
  }

  /**
   * Resolves when both listeners and all connections are closed.
   *
   * @param second what hands its connections to the server, if anything does
   * @param seal makes every later change fail: what comes after the time is over could not be acknowledged any more
   */
  async end(server: Server, second: NetServer | undefined, seal: () => void): Promise<void> {
    this.begin();
    const listeners = second ? [server, second] : [server];
    const closed = Promise.all(listeners.map((one) => once(one, 'close')));
    for (const one of listeners) one.close();
    server.closeIdleConnections();
    await this.#answered(DRAIN_MS - (performance.now() - (this.#beganAtMs ?? 0)));
    seal();
    await this.#answered(LAST_ANSWERS_MS);
    server.closeAllConnections();
    await closed;
  }

  /** Resolves when nobody waits for an answer, or the time is over. */
  async #answered(timeoutMs: number): Promise<void> {
    const signal = AbortSignal.timeout(Math.max(0, Math.ceil(timeoutMs)));
    while (this.#open.size > 0 && !signal.aborted)
      await once(this.#events, 'closed', { signal }).catch(() => undefined); // the time is over
  }
}
