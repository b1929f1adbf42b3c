import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { errorMonitor } from 'node:events';
import type { ClientRequest } from 'node:http';
import type { OutboundHead } from '../protocol.ts';
import { messageOf } from './error-text.ts';

/** Something new about an outbound call of this process. */
export type OutboundNews = Omit<OutboundHead, 'number'>;

const LONGEST_URL = 2_048;

/** What Node tells of a request made with fetch. */
interface FetchRequest {
  method: string;
  origin: string;
  path: string;
}

/**
 * Reports every HTTP call made with node:http, node:https or fetch. It only listens to Node's diagnostics channels: a call
 * behaves exactly as it would without.
 */
export class OutboundCalls {
  readonly #report: (news: OutboundNews) => void;
  readonly #ids = new WeakMap<object, number>();
  readonly #hidden = new WeakSet<object>();
  /** What stands for a call whose own request is yet to be made. */
  readonly #placeholders = new AsyncLocalStorage<object>();
  #lastId = 0;

  constructor(report: (news: OutboundNews) => void) {
    this.#report = report;
    this.#watchHttp();
    this.#watchFetch();
  }

  /** A call starts; `request` stands for it from now on. Does nothing when it has started already. */
  start(request: object, method: string, url: string): void {
    if (this.#hidden.has(request) || this.#ids.has(request)) return;
    this.#lastId += 1;
    this.#ids.set(request, this.#lastId);
    this.#report({ id: this.#lastId, method, url: url.slice(0, LONGEST_URL) });
  }

  /** Something became known of a call. Does nothing for a request that never started. */
  tell(request: object, news: Omit<OutboundNews, 'id'>): void {
    const id = this.#ids.get(request);
    if (id !== undefined) this.#report({ id, ...news });
  }

  /** Leaves a request that has not been sent yet out of the report: it is not the lambda's. */
  hide(request: object): void {
    this.#hidden.add(request);
  }

  /** Makes the request of a call that has started already: it stands for that call from then on. */
  goOn<T>(placeholder: object, make: () => T): T {
    return this.#placeholders.run(placeholder, make);
  }

  #watchHttp(): void {
    on<{ request: ClientRequest }>('http.client.request.start', ({ request }) => {
      const host = request.getHeader('host') ?? request.host;
      this.start(request, request.method, `${request.protocol}//${host}${request.path}`);
      request.on(errorMonitor, (error) => this.tell(request, { error: messageOf(error), ended: true }));
      request.on('close', () => this.tell(request, { ended: true }));
    });
    on<{ request: ClientRequest; response: { statusCode: number } }>('http.client.response.finish', (message) =>
      this.tell(message.request, { status: message.response.statusCode }),
    );
  }

  #watchFetch(): void {
    on<{ request: FetchRequest }>('undici:request:create', ({ request }) => {
      const placeholder = this.#placeholders.getStore();
      const id = placeholder && this.#ids.get(placeholder);
      if (!placeholder || id === undefined)
        return this.start(request, request.method, `${request.origin}${request.path}`);
      // Only the first: where that is redirected to is a call of its own.
      this.#ids.delete(placeholder);
      this.#ids.set(request, id);
    });
    on<{ request: FetchRequest; response: { statusCode: number } }>('undici:request:headers', (message) =>
      this.tell(message.request, { status: message.response.statusCode }),
    );
    on<{ request: FetchRequest }>('undici:request:trailers', ({ request }) => this.tell(request, { ended: true }));
    on<{ request: FetchRequest; error: unknown }>('undici:request:error', ({ request, error }) =>
      this.tell(request, { error: messageOf(error), ended: true }),
    );
  }
}

function on<T>(channel: string, listener: (message: T) => void): void {
  // As: Node documents what each channel carries, but types it as unknown.
  subscribe(channel, (message) => listener(message as T));
}
