import type { IncomingMessage, RequestOptions } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { CrmRoute } from '../protocol.ts';
import { messageOf } from './error-text.ts';
import type { OutboundCalls } from './outbound-calls.ts';

/** Statuses whose answer has no body (Fetch standard). */
const BODILESS = new Set([204, 205, 304]);
/** Headers of one connection; they say nothing about the next. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding']);

type Named = { hostname?: unknown; host?: unknown; port?: unknown };

/** What only a lambda with a CRM needs. A `require` in a function is bundled like an import, but runs when called. */
function parts() {
  return {
    ...(require('@mswjs/interceptors/ClientRequest') as typeof import('@mswjs/interceptors/ClientRequest')),
    ...(require('@mswjs/interceptors/fetch') as typeof import('@mswjs/interceptors/fetch')),
    ...(require('@mswjs/interceptors') as Pick<typeof import('@mswjs/interceptors'), 'getRawRequest'>),
    http: require('node:http') as typeof import('node:http'),
    https: require('node:https') as typeof import('node:https'),
  };
}

/** Loads what {@link catchCrm} needs, for a process that has nothing else to do yet. */
export function preloadCatching(): void {
  parts();
}

/**
 * From now on a call to the CRM's host, by node:http, node:https or fetch, is answered by the stand-in (D-200); the lambda
 * sees an ordinary answer. Calls to other hosts never enter the interceptors: they stay with Node's own functions, agents,
 * sockets and errors.
 */
export function catchCrm(crm: CrmRoute, calls: OutboundCalls): void {
  const { ClientRequestInterceptor, FetchInterceptor, getRawRequest, http, https } = parts();
  const original = { http: { ...http }, https: { ...https }, fetch: globalThis.fetch };
  const forward = forwarder(crm, crm.standIn.caPem ? https.request : http.request, calls);

  for (const [interceptor, failing] of [
    [new ClientRequestInterceptor(), (error: Error) => error],
    [new FetchInterceptor(), (error: Error) => new TypeError('fetch failed', { cause: error })],
  ] as const) {
    interceptor.on('request', async ({ request, controller }) => {
      // As: it is the ClientRequest or Request that the lambda made.
      const call = (getRawRequest(request) ?? request) as object;
      calls.start(call, request.method, request.url);
      calls.tell(call, { caughtBy: 'crm' });
      try {
        const response = await forward(request);
        calls.tell(call, { status: response.status });
        controller.respondWith(response);
      } catch (thrown) {
        const { host, port } = crm.standIn;
        const error = new Error(`the CRM stand-in at ${host}:${port} did not answer: ${messageOf(thrown)}`);
        calls.tell(call, { error: error.message, ended: true });
        controller.errorWith(failing(error));
      }
    });
    interceptor.apply();
  }

  const isForCrm = (args: unknown[]): boolean => addresses(crm, args);
  for (const [module, before] of [
    [http, original.http],
    [https, original.https],
  ] as const) {
    Object.assign(module, {
      request: either(isForCrm, module.request, before.request),
      get: either(isForCrm, module.get, before.get),
    });
  }
  Object.assign(http, { ClientRequest: either(isForCrm, http.ClientRequest, original.http.ClientRequest) });
  globalThis.fetch = either(isForCrm, globalThis.fetch, original.fetch);
  syncBuiltinESMExports();
}

/** The first function or class for arguments that it is meant for, else the second; it looks like the second. */
function either<F extends object>(isMeant: (args: unknown[]) => boolean, one: F, other: F): F {
  // As: functions and classes both; which one it is decides which trap is used.
  const choose = (args: unknown[]) => (isMeant(args) ? one : other) as never;
  return new Proxy(other, {
    apply: (_target, self, args) => Reflect.apply(choose(args), self, args),
    construct: (_target, args, newTarget) => Reflect.construct(choose(args), args, newTarget),
  });
}

/** Do the arguments of http.request, of fetch and the like name the CRM's host? */
function addresses(crm: CrmRoute, [first, second]: unknown[]): boolean {
  const named = [partsIn(second), partsIn(first), urlIn(first)];
  const hostname = named.map((parts) => parts.hostname ?? parts.host).find((host) => typeof host === 'string' && host);
  const port = named.map((parts) => parts.port).find((port) => port);
  const isHost = typeof hostname === 'string' && hostname.toLowerCase().replace(/^\[|\]$/g, '') === crm.hostname;
  return isHost && (crm.port === undefined || Number(port) === crm.port);
}

/** An object of options, or a URL object: they have the same names. */
function partsIn(value: unknown): Named {
  return typeof value === 'object' && value !== null ? value : {};
}

/** A URL as text, or that of a Request. */
function urlIn(value: unknown): Named {
  const text = typeof value === 'object' && value !== null && 'url' in value ? value.url : value;
  return typeof text === 'string' && URL.canParse(text) ? new URL(text) : {};
}

/** Repeats a request at the stand-in, body and answer streamed. */
function forwarder(crm: CrmRoute, send: typeof import('node:https').request, calls: OutboundCalls) {
  const { host, port, caPem } = crm.standIn;
  return (request: Request): Promise<Response> =>
    new Promise((resolve, reject) => {
      const url = new URL(request.url);
      const options: RequestOptions = {
        host,
        port,
        method: request.method,
        path: url.pathname + url.search,
        headers: { host: url.host, ...Object.fromEntries(request.headers) },
      };
      // The certificate names the stand-in, not the CRM; that it is this very one is proof enough.
      const trust = caPem && { ca: caPem, checkServerIdentity: () => undefined };
      const outgoing = send({ ...options, ...trust }, (answer) => resolve(responseOf(answer)));
      calls.hide(outgoing);
      outgoing.on('error', reject);
      // As: the same streams, typed once by the web's and once by Node's declarations.
      if (request.body) Readable.fromWeb(request.body as ReadableStream).pipe(outgoing);
      else outgoing.end();
    });
}

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 502, statusMessage: statusText = '' } = answer;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(answer.headersDistinct)) {
    if (!HOP_BY_HOP.has(name)) for (const value of values) headers.append(name, value);
  }
  if (BODILESS.has(status)) answer.resume();
  // As: see above.
  const body = BODILESS.has(status)
    ? null
    : (Readable.toWeb(answer) as unknown as ConstructorParameters<typeof Response>[0]);
  return new Response(body, { status, statusText, headers });
}
