import type { IncomingMessage } from 'node:http';
import { hostNameOf, isOurName } from '../api/server/host-guard.ts';
import { refuseLargeBody } from '../api/server/whole-body.ts';
import { PlatformError } from '../model/errors.ts';
import { WINDOW_HOST } from '../model/host-names.ts';
import type { LambdaInvoker } from '../model/invocation.ts';
import type { Uuid, WorldView } from '../model/record.ts';
import type { AsyncCalls } from './async-results.ts';
import type { BuiltInRoute, BuiltInRoutes } from './built-in-routes.ts';
import type { CallerCheck } from './caller-check.ts';
import type { ContainerProxy } from './container-proxy.ts';
import { requestForContainer } from './container-request.ts';
import { ANY_ORIGIN, preflightedMethod, preflightHeaders } from './cors.ts';
import type { Endpoint, EndpointTarget } from './endpoint.ts';
import type { Answer, Exchange } from './exchange.ts';
import type { GatewayLimits } from './gateway-limits.ts';
import { lambdaAnswer, lambdaCall } from './lambda-call.ts';
import type { PublishedEndpoints } from './published-endpoints.ts';
import { parseTarget, type RequestTarget, readBody, restAfter, withSlashesDecoded } from './request.ts';
import { methodsOf, routeForMethod } from './route-table.ts';

export interface PipelineParts {
  view: WorldView;
  endpoints: PublishedEndpoints;
  builtIns: BuiltInRoutes;
  callers: CallerCheck;
  calls: AsyncCalls;
  invoker: LambdaInvoker;
  containers: ContainerProxy;
  limits: GatewayLimits;
  /** Accepted host names besides loopback names and those of endpoints; lower case, without port. */
  allowedHosts: ReadonlySet<string>;
  version: string;
  steadyMs(): number;
}

type FoundRoutes = readonly (Endpoint | BuiltInRoute)[] | undefined;

/** The steps from a request to its response, in the order of D-154. */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #preflights: Preflights;
  /** Cache of the latest Host header that is always accepted, with its name: most requests have the same. */
  #lastHost: { header: string; name: string } | undefined;
  #lastTarget: { text: string; target: RequestTarget } | undefined;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
    this.#preflights = new Preflights(parts.invoker);
  }

  /** Undefined if the response was streamed from a container. Throws or rejects with PlatformError, or ClientDisconnected. */
  answer(exchange: Exchange): Answer | Promise<Answer | undefined> {
    const { request } = exchange;
    const sentTarget = this.#targetOf(request.url ?? '');
    const host = this.#ownHost(exchange, sentTarget);
    const { target, builtIn, routes } = this.#lookUp(host, sentTarget);
    const requestedMethod = preflightedMethod(request);
    if (!routes) {
      // So that a page can read the 404.
      exchange.cors = ANY_ORIGIN;
      if (requestedMethod !== undefined)
        return { status: 204, headers: preflightHeaders([requestedMethod], request), body: '' };
      throw new PlatformError('no_endpoint', 'no API found with those values');
    }
    const preflighted = requestedMethod === undefined ? undefined : preflightedRoute(requestedMethod, routes);
    const route = preflighted ?? routeForMethod(routes, request.method ?? '');
    if (request.method === 'POST' && builtIn?.takesPrecedence && route !== builtIn) {
      return this.#answerByBody(exchange, target, route, builtIn);
    }
    exchange.cors = (route ?? routes[0])?.cors;
    if (!preflighted) this.#preflights.followedBy(request, route ?? routes[0]);
    if (!route) {
      const [endpoint] = routes;
      if (endpoint && 'limit' in endpoint && endpoint.limit) exchange.showLimit(endpoint.limit, this.#parts.steadyMs());
      throw methodNotAllowed(request, routes);
    }
    this.#enter(exchange, route);
    if (preflighted && requestedMethod !== undefined) {
      this.#preflights.answered(request, preflighted);
      // With the method that is not published, too, a page can read the 405.
      return {
        status: 204,
        headers: preflightHeaders([...methodsOf([preflighted]), requestedMethod], request),
        body: '',
      };
    }
    return 'answer' in route ? route.answer(exchange, target) : this.#serve(exchange, route, target);
  }

  /** A body that names a lambda is for the built-in route, any other for the endpoint of that path (D-165). */
  async #answerByBody(
    exchange: Exchange,
    target: RequestTarget,
    endpoint: Endpoint | BuiltInRoute | undefined,
    builtIn: BuiltInRoute,
  ): Promise<Answer | undefined> {
    const { request, response } = exchange;
    exchange.cors = endpoint?.cors ?? builtIn.cors;
    exchange.body = await readBody(request, response, this.#parts.limits.requestBodyBytes);
    const route = builtIn.takesPrecedence?.(exchange.body) || !endpoint ? builtIn : endpoint;
    if ('id' in route) exchange.targetName = `endpoint ${route.id}`;
    exchange.cors = route.cors;
    this.#preflights.followedBy(request, route);
    this.#enter(exchange, route);
    return 'answer' in route ? route.answer(exchange, target) : this.#serve(exchange, route, target);
  }

  #enter(exchange: Exchange, route: Endpoint | BuiltInRoute): void {
    exchange.passed('route');
    if (!('id' in route)) return;
    exchange.endpointId = route.id;
    if (route.limit) exchange.showLimit(route.limit, this.#parts.steadyMs());
  }

  #targetOf(text: string): RequestTarget {
    if (text === this.#lastTarget?.text) return this.#lastTarget.target;
    const target = parseTarget(text, this.#parts.limits.requestTargetBytes);
    this.#lastTarget = { text, target };
    return target;
  }

  /** The requested host name. Throws 400 if it is missing or malformed, 403 if it is not accepted. */
  #ownHost({ request }: Exchange, target: RequestTarget): string {
    const { allowedHosts, endpoints } = this.#parts;
    if (countHosts(request.rawHeaders) > 1)
      throw new PlatformError('invalid_request', 'the request has more than one Host header');
    const header = target.authority ?? request.headers.host;
    if (header === undefined && request.httpVersion === '1.1') {
      throw new PlatformError('invalid_request', 'the request has no Host header');
    }
    if (header !== undefined && header === this.#lastHost?.header) return this.#lastHost.name;
    const name = header === undefined ? undefined : hostNameOf(header);
    if (name === WINDOW_HOST) {
      throw new PlatformError(
        'host_not_allowed',
        `the gateway is not available at ${WINDOW_HOST}; use localhost (D-214)`,
      );
    }
    if (header !== undefined && name !== undefined && isOurName(name, allowedHosts)) {
      this.#lastHost = { header, name };
      return name;
    }
    if (name !== undefined && endpoints.hasHost(name)) return name;
    const knownHosts = ['localhost', '*.localhost', '127.0.0.0/8', '[::1]', ...allowedHosts].join(', ');
    throw new PlatformError(
      'host_not_allowed',
      `the gateway rejects requests to host '${(header ?? '').slice(0, 255)}': it accepts ${knownHosts} and the hosts of API ` +
        "endpoints. Add the name to an endpoint's hosts, or to the setting allowedHosts.",
    );
  }

  /** Generated clients encode the slashes of `{endpoint}`, so a path that has no endpoint as it was sent is read with slashes (D-151). */
  #lookUp(
    host: string,
    target: RequestTarget,
  ): { target: RequestTarget; builtIn: BuiltInRoute | undefined; routes: FoundRoutes } {
    const { segments } = target;
    const builtIn = this.#parts.builtIns.find(segments);
    const found = this.#parts.endpoints.find(host, segments);
    // An endpoint with exactly this path (`/async` of an API `api`, D-165) shares it with a built-in route, no other does (D-151).
    const routes = builtIn && found?.[0]?.prefix.length !== segments.length ? [builtIn] : found;
    const decodedTarget = routes ? undefined : withSlashesDecoded(target);
    return decodedTarget ? this.#lookUp(host, decodedTarget) : { target, builtIn, routes };
  }

  async #serve(exchange: Exchange, endpoint: Endpoint, target: RequestTarget): Promise<Answer | undefined> {
    const { callers, view, limits, steadyMs } = this.#parts;
    const { request, response } = exchange;
    const peer = request.socket.remoteAddress;
    if (endpoint.whitelist && !endpoint.whitelist.has(peer)) {
      throw new PlatformError(
        'address_not_allowed',
        `calls from ${peer ?? 'an unknown address'} are not allowed by this endpoint's whitelist`,
      );
    }
    const identification = callers.identify(exchange);
    if (endpoint.security) callers.requireListed(identification, endpoint.security, endpoint.id);
    const to = endpoint.target;
    const lambda = to.kind === 'lambda' ? view.find(to.id) : undefined;
    if (lambda) callers.requireInvoke(identification, lambda);
    exchange.passed('auth');
    if (endpoint.limit) {
      endpoint.limit.count(steadyMs());
      exchange.showLimit(endpoint.limit, steadyMs());
      exchange.passed('limit');
    }
    if (to.kind === 'container') {
      exchange.startUpstream();
      try {
        await this.#forward(exchange, to, endpoint.prefix, target);
      } finally {
        exchange.endUpstream();
      }
      return undefined;
    }
    if (exchange.upgrade) {
      throw new PlatformError(
        'not_supported',
        'this endpoint leads to a lambda, which does not support WebSockets. Use a container.',
      );
    }
    exchange.body ??= await readBody(request, response, limits.requestBodyBytes);
    exchange.passed('body');
    const call = lambdaCall(exchange, {
      trigger: to.isSynchronous ? 'gateway' : 'async',
      body: exchange.body,
      path: restAfter(target.path, endpoint.prefix.length),
      query: target.query,
      identification,
      isHttpAware: to.isHttpAware,
      apiEndpointId: endpoint.id,
    });
    if (!to.isSynchronous) return this.#parts.calls.accept(to.id, call);
    exchange.startUpstream();
    const invocation = await this.#parts.invoker.invoke(to.id, call); // never rejects
    exchange.endUpstream();
    return lambdaAnswer(invocation, to.isHttpAware, (text) => this.#parts.invoker.logMessage?.(to.id, text));
  }

  async #forward(
    exchange: Exchange,
    to: EndpointTarget & { kind: 'container' },
    prefix: readonly string[],
    { authority, path, query }: RequestTarget,
  ): Promise<void> {
    const { containers, view, version, limits } = this.#parts;
    const { request, response, upgrade, body } = exchange;
    refuseLargeBody(request, limits.requestBodyBytes);
    const call = requestForContainer(view, {
      containerId: to.id,
      exchangeId: exchange.beginTrace(),
      portName: to.portName,
      askedHost: authority ?? request.headers.host,
      maxBodyBytes: limits.requestBodyBytes,
      target: `${restAfter(path, prefix.length) || '/'}${query === '' ? '' : `?${query}`}`,
      prefix: prefix.map((segment) => `/${encodeURIComponent(segment)}`).join(''),
      request,
      response,
      ...(body && { body }),
      controlHeaders: (ownHeaders) => exchange.controlHeaders(version, ownHeaders),
      recording: exchange.startRecording(),
    });
    return upgrade ? containers.upgrade(call, upgrade) : containers.forward(call);
  }
}

/** The route whose preflight the gateway handles (D-158): of the requested method, or any. Undefined if the target does. */
function preflightedRoute<T extends Endpoint | BuiltInRoute>(method: string, routes: readonly T[]): T | undefined {
  if (routes.some((route) => route.methods?.has('OPTIONS'))) return undefined;
  const route = routeForMethod(routes, method) ?? routes[0];
  return route?.cors ? route : undefined;
}

function methodNotAllowed(request: IncomingMessage, routes: readonly (Endpoint | BuiltInRoute)[]): PlatformError {
  const allow = methodsOf(routes).join(', ');
  return new PlatformError('method_not_allowed', `method ${request.method} is not allowed; use ${allow}`, {
    headers: { Allow: allow },
  });
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}

/** A browser sends the request right after the response to its preflight. */
const PREFLIGHT_WINDOW_MS = 3_000;
const MOST_OPEN = 100;

/** Says in the log of a lambda why a page's request did not follow its preflight: only the browser's own console shows that otherwise. */
class Preflights {
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
