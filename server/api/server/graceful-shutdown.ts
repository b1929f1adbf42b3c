import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as NetServer } from 'node:net';
import { PlatformError } from '../../model/errors.ts';

/** Time for which running requests can continue after the platform was asked to stop. */
const DRAIN_MS = 4_000;
/** Further time to send the responses, while writes are refused. */
const LAST_ANSWERS_MS = 500;

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Shutdown of the control plane in two steps, so that every change is acknowledged. After `begin`, writes are refused and responses close
 * their connection; lambdas that are finishing can still read. `end` then stops listening, waits for running requests and closes all
 * connections.
 */
export class GracefulShutdown {
  readonly #open = new Set<ServerResponse>();
  readonly #events = new EventEmitter();
  #beganAtMs: number | undefined;

  /** Call this before each response. Throws PlatformError 503 for writes after the start of the shutdown. */
  track(request: IncomingMessage, response: ServerResponse): void {
    this.#open.add(response);
    response.once('close', () => {
      this.#open.delete(response);
      this.#events.emit('closed');
    });
    if (this.#beganAtMs === undefined) return;
    response.setHeader('Connection', 'close');
    if (READING.has(request.method ?? '')) return;
    throw new PlatformError(
      'stopping',
      'the platform is stopping, so the change was not made. Repeat the request when the platform is running again.',
    );
  }

  begin(): void {
    this.#beganAtMs ??= performance.now();
    for (const response of this.#open) if (!response.headersSent) response.setHeader('Connection', 'close');
  }

  /**
   * Resolves when both listeners and all connections are closed.
   *
   * @param second a server that passes its connections on, if any
   * @param seal makes every later change fail, because it could not be acknowledged any more
   */
  async end(server: Server, second: NetServer | undefined, seal: () => void): Promise<void> {
    this.begin();
    const listeners = second ? [server, second] : [server];
    const closed = Promise.all(listeners.map((listener) => once(listener, 'close')));
    for (const listener of listeners) listener.close();
    server.closeIdleConnections();
    await this.#answered(DRAIN_MS - (performance.now() - (this.#beganAtMs ?? 0)));
    seal();
    await this.#answered(LAST_ANSWERS_MS);
    server.closeAllConnections();
    await closed;
  }

  /** Resolves when no request is open or the time is over. */
  async #answered(timeoutMs: number): Promise<void> {
    const signal = AbortSignal.timeout(Math.max(0, Math.ceil(timeoutMs)));
    while (this.#open.size > 0 && !signal.aborted)
      await once(this.#events, 'closed', { signal }).catch(() => undefined); // the time is over
  }
}
