import { syncBuiltinESMExports } from 'node:module';
import { decideOutbound, type OutboundRule, type OutboundVerdict } from '../../model/outbound-rule.ts';
import type { OutboundRoutes } from '../protocol.ts';
import { targetOf } from './call-target.ts';
import { messageOf } from './error-text.ts';
import { networkError } from './network-error.ts';
import type { OutboundCalls } from './outbound-calls.ts';
import { askStandIn, madeUpResponse } from './stand-in-call.ts';

// Taken at start: a lambda may replace the globals of its own process.
const { setTimeout, Promise: NativePromise } = globalThis;

/** What makes a call answer otherwise than its host would. A `require` in a function is bundled like an import, but runs when called. */
function parts() {
  return {
    ...(require('@mswjs/interceptors/ClientRequest') as typeof import('@mswjs/interceptors/ClientRequest')),
    ...(require('@mswjs/interceptors/fetch') as typeof import('@mswjs/interceptors/fetch')),
    ...(require('@mswjs/interceptors') as Pick<typeof import('@mswjs/interceptors'), 'getRawRequest'>),
  };
}

const nodeHttp = () => require('node:http') as typeof import('node:http');
const nodeHttps = () => require('node:https') as typeof import('node:https');

/** Loads what calls may need, for a process that has nothing else to do yet. */
export function preloadHooks(): void {
  parts();
  nodeHttps();
}

/** The functions that calls are made with. */
function functionsNow() {
  const [http, https] = [nodeHttp(), nodeHttps()];
  return {
    http: { request: http.request, get: http.get, ClientRequest: http.ClientRequest },
    https: { request: https.request, get: https.get },
    fetch: globalThis.fetch,
  };
}
type Functions = ReturnType<typeof functionsNow>;

function put({ http, https, fetch }: Functions): void {
  Object.assign(nodeHttp(), http);
  Object.assign(nodeHttps(), https);
  if (globalThis.fetch !== fetch) globalThis.fetch = fetch;
}

/**
 * Lets the rules about outbound calls hold for this process (D-200). A call by node:http, node:https or fetch that no rule means
 * goes to Node's own functions, with its agents, sockets and errors; of the others the lambda sees an ordinary answer or error.
 */
export class OutboundHooks {
  readonly #calls: OutboundCalls;
  readonly #executionId: () => string | undefined;
  #routes: OutboundRoutes = { catchesCrm: false, rules: [] };
  #own: Functions | undefined;
  #intercepted: Functions | undefined;

  /** @param executionId the invocation that runs, if one does */
  constructor(calls: OutboundCalls, executionId: () => string | undefined) {
    this.#calls = calls;
    this.#executionId = executionId;
  }

  /** To be called before the lambda is loaded. */
  install(routes: OutboundRoutes): void {
    this.#routes = routes;
    const own = functionsNow();
    this.#own = own;
    if (routes.crm && routes.catchesCrm) this.#interceptors();
    put({
      http: {
        request: this.#hook('http:', own.http.request, ({ http }) => http.request),
        get: this.#hook('http:', own.http.get, ({ http }) => http.get),
        ClientRequest: this.#hook('http:', own.http.ClientRequest, ({ http }) => http.ClientRequest),
      },
      https: {
        request: this.#hook('https:', own.https.request, ({ https }) => https.request),
        get: this.#hook('https:', own.https.get, ({ https }) => https.get),
      },
      fetch: this.#hookFetch(own.fetch),
    });
    syncBuiltinESMExports();
  }

  /** From the next call on these rules hold. */
  change(rules: readonly OutboundRule[]): void {
    this.#routes = { ...this.#routes, rules };
  }

  #decide(args: readonly unknown[], protocol: string): OutboundVerdict | undefined {
    const { crm, rules, catchesCrm } = this.#routes;
    if (rules.length === 0 && !crm) return undefined;
    const target = targetOf(args, protocol, crm);
    return target && decideOutbound(rules, target, catchesCrm);
  }

  /** A function or class that looks like Node's own, and is it for calls that are left to themselves. */
  #hook<F extends object>(protocol: string, own: F, intercepted: (functions: Functions) => F): F {
    // As: functions and classes both; which one it is decides which trap is used.
    const choose = (args: unknown[]) =>
      (this.#decide(args, protocol) ? intercepted(this.#interceptors()) : own) as never;
    return new Proxy(own, {
      apply: (_target, self, args) => Reflect.apply(choose(args), self, args),
      construct: (_target, args, newTarget) => Reflect.construct(choose(args), args, newTarget),
    });
  }

  #hookFetch(own: typeof fetch): typeof fetch {
    return new Proxy(own, {
      apply: (_target, self, args: Parameters<typeof fetch>) => {
        const verdict = this.#decide(args, 'https:');
        if (verdict?.action === 'pass') return this.#passLater(verdict, own, args);
        return Reflect.apply(verdict ? this.#interceptors().fetch : own, self, args);
      },
    });
  }

  /** A fetch that only waits is then Node's own, as the lambda made it. */
  async #passLater(verdict: OutboundVerdict, own: typeof fetch, args: Parameters<typeof fetch>): Promise<Response> {
    const [input, init] = args;
    const request = typeof input === 'object' && 'method' in input ? input : undefined;
    const signal = init?.signal ?? request?.signal;
    const call = {};
    const url = request ? request.url : String(input);
    this.#calls.start(call, (init?.method ?? request?.method ?? 'GET').toUpperCase(), url);
    this.#calls.tell(call, { rules: verdict.rules });
    await new NativePromise<void>((resolve) => {
      const timer = setTimeout(resolve, verdict.delayMs);
      const giveUp = () => {
        clearTimeout(timer);
        resolve();
      };
      if (signal?.aborted) giveUp();
      else signal?.addEventListener('abort', giveUp, { once: true });
    });
    try {
      return await this.#calls.goOn(call, () => own(...args));
    } catch (thrown) {
      this.#calls.tell(call, { error: messageOf(thrown), ended: true });
      throw thrown;
    }
  }

  /** The functions whose calls can be answered here; loaded when the first call needs them. */
  #interceptors(): Functions {
    if (this.#intercepted) return this.#intercepted;
    const { ClientRequestInterceptor, FetchInterceptor, getRawRequest } = parts();
    // They take the place of the functions that there are: of Node's own, which they shall call, and not for good.
    const now = functionsNow();
    put(this.#own ?? now);
    for (const [interceptor, failing] of [
      [new ClientRequestInterceptor(), (error: Error) => error],
      [new FetchInterceptor(), (error: Error) => new TypeError('fetch failed', { cause: error })],
    ] as const) {
      interceptor.on('request', async ({ request, controller }) => {
        const verdict = this.#decide([request.url], 'https:');
        if (!verdict) return;
        // As: it is the ClientRequest or Request that the lambda made.
        const call = (getRawRequest(request) ?? request) as object;
        this.#calls.start(call, request.method, request.url);
        this.#calls.tell(call, {
          ...(verdict.rules.length > 0 && { rules: verdict.rules }),
          ...(verdict.action === 'catch' && { caughtBy: 'crm' as const }),
        });
        if (verdict.delayMs > 0) await new NativePromise((resolve) => setTimeout(resolve, verdict.delayMs));
        if (verdict.action === 'pass') return;
        try {
          const response = await this.#answer(verdict, request);
          this.#calls.tell(call, { status: response.status });
          controller.respondWith(response);
        } catch (thrown) {
          const error = thrown instanceof Error ? thrown : new Error(messageOf(thrown));
          this.#calls.tell(call, { error: error.message, ended: true });
          controller.errorWith(failing(error));
        }
      });
      interceptor.apply();
    }
    this.#intercepted = functionsNow();
    put(now);
    return this.#intercepted;
  }

  /** What comes back instead of the addressed host's answer; throws what the network would fail with. */
  async #answer({ action, status, error, rules }: OutboundVerdict, request: Request): Promise<Response> {
    const rule = rules.at(-1)?.text ?? 'the configuration';
    if (action === 'block') throw networkError('ECONNREFUSED', request.url, rule);
    if (error) throw networkError(error, request.url, rule);
    if (action === 'fail') return madeUpResponse(status ?? 500, `Answered by an outbound rule: ${rule}\n`);
    const { standIn } = this.#routes;
    const own = this.#own;
    if (!standIn || !own) throw new Error(`there is no CRM stand-in to catch the call (outbound rule: ${rule})`);
    const send = standIn.caPem ? own.https.request : (own.http.request as typeof own.https.request);
    try {
      return await askStandIn(request, standIn, send, this.#executionId(), (outgoing) => this.#calls.hide(outgoing));
    } catch (thrown) {
      const { host, port } = standIn;
      throw new Error(`the CRM stand-in at ${host}:${port} did not answer: ${messageOf(thrown)}`);
    }
  }
}
