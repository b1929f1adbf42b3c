import type { IncomingMessage } from 'node:http';
import type { LambdaInvoker } from '../model/invocation.ts';
import type { Uuid } from '../model/record.ts';
import type { BuiltInRoute } from './built-in-routes.ts';
import type { Endpoint } from './endpoint.ts';

/** A browser sends the request right after the response to its preflight. */
const PREFLIGHT_WINDOW_MS = 3_000;
const MOST_OPEN = 100;

/** Says in the log of a lambda why a page's request did not follow its preflight: only the browser's own console shows that otherwise. */
export class Preflights {
  readonly #invoker: Pick<LambdaInvoker, 'logMessage'>;
  readonly #open = new Map<string, NodeJS.Timeout>();
  readonly #reported = new Set<Uuid>();

  constructor(invoker: Pick<LambdaInvoker, 'logMessage'>) {
    this.#invoker = invoker;
  }

  answered({ headers }: IncomingMessage, route: Endpoint | BuiltInRoute): void {
    const { origin = '', 'access-control-request-method': method } = headers;
    // Only browsers send it. Requests with credentials are allowed if the endpoint says so.
    if (headers['sec-fetch-mode'] === undefined || !('id' in route) || route.target.kind !== 'lambda') return;
    if (route.cors?.allowsCredentials || this.#reported.has(route.id) || this.#open.size >= MOST_OPEN) return;
    const { id } = route.target;
    const key = keyOf(origin, route);
    clearTimeout(this.#open.get(key));
    const timer = setTimeout(() => {
      this.#open.delete(key);
      this.#reported.add(route.id);
      const text = `a page of ${origin} asked to send ${method}, and the browser did not send it. Browsers send credentials with navigator.sendBeacon and with \`credentials: 'include'\`: set plugins.cors of the endpoint to {"origins": ["${origin}"], "credentials": true}, or send the beacon as text: navigator.sendBeacon(url, JSON.stringify(data))`;
      this.#invoker.logMessage?.(id, text);
    }, PREFLIGHT_WINDOW_MS);
    this.#open.set(key, timer.unref());
  }

  followedBy({ headers }: IncomingMessage, route: Endpoint | BuiltInRoute | undefined): void {
    if (this.#open.size === 0 || headers.origin === undefined || !route || !('id' in route)) return;
    const key = keyOf(headers.origin, route);
    clearTimeout(this.#open.get(key));
    this.#open.delete(key);
  }
}

const keyOf = (origin: string, { id }: Endpoint) => `${id} ${origin}`;
