import type { IncomingMessage } from 'node:http';
import { hostNameOf, isOurName } from '../http/host-guard.ts';
import { PlatformError } from '../model/errors.ts';
import type { LambdaInvoker } from '../model/invocation.ts';
import { WINDOW_HOST } from '../model/window-host.ts';
import type { WorldView } from '../model/world-view.ts';
import type { Answer } from './answer.ts';
import type { AsyncCalls } from './async-calls.ts';
import type { BuiltInRoute, BuiltInRoutes } from './built-in-routes.ts';
import type { CallerCheck } from './caller-check.ts';
import type { ContainerProxy } from './container-proxy.ts';
import { requestForContainer } from './container-request.ts';
import { preflightedMethod, preflightHeaders } from './cors.ts';
import type { Endpoint, EndpointTarget } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { lambdaAnswer } from './lambda-answer.ts';
import { lambdaCall } from './lambda-call.ts';
import type { GatewayLimits } from './limits.ts';
import type { PublishedEndpoints } from './published-endpoints.ts';
import { hasBody, NO_BODY, readBody, refuseLargeBody } from './request-body.ts';
import { parseTarget, type RequestTarget, restAfter } from './request-target.ts';
import { methodsOf, routeForMethod } from './route-table.ts';

/** What a request's way leads through. */
export interface PipelineParts {
  view: WorldView;
  endpoints: PublishedEndpoints;
  builtIns: BuiltInRoutes;
  callers: CallerCheck;
  calls: AsyncCalls;
  invoker: LambdaInvoker;
  containers: ContainerProxy;
  limits: GatewayLimits;
  /** Host names, besides the loopback ones and those of endpoints, that requests may name. */
  allowedHosts: ReadonlySet<string>;
  version: string;
  nowMs(): number;
}

/** The way of a request from its first byte to its answer, in the order of D-154. */
export class Pipeline {
  readonly #parts: PipelineParts;
  /** The Host header that came last of those that are ours whatever the world holds, and its name: most requests say the same. */
  #lastHost: { header: string; name: string } | undefined;

  /** The target that came last. */
  #lastTarget: { text: string; target: RequestTarget } | undefined;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
  }

  /**
   * Works out the answer to a request; undefined when it was sent on the way (a container's is streamed). Throws
   * PlatformError for every refusal, at once or later, and ClientGone when nobody is left to answer.
   */
  answer(exchange: Exchange): Answer | Promise<Answer | undefined> {
    const { request } = exchange;
    const target = this.#targetOf(request.url ?? '');
    const host = this.#ownHost(exchange, target);
    const routes = this.#routesOf(host, target.segments);
    if (!routes) throw new PlatformError(404, 'no API found with those values');
    const preflighted = preflightedRoute(request, routes);
    const route = preflighted ?? routeForMethod(routes, request.method ?? '');
    exchange.allowOrigins((route ?? routes[0])?.cors);
    if (!route) throw methodNotAllowed(request, routes);
    exchange.passed('route');
    if ('id' in route) {
      exchange.endpointId = route.id;
      if (route.limit) exchange.showLimit(route.limit, this.#parts.nowMs());
    }
    if (preflighted) return { status: 204, headers: preflightHeaders(methodsOf([preflighted]), request), body: '' };
    return 'answer' in route ? route.answer(exchange, target) : this.#serve(exchange, route, target);
  }

  #targetOf(text: string): RequestTarget {
    if (text === this.#lastTarget?.text) return this.#lastTarget.target;
    const target = parseTarget(text, this.#parts.limits.requestTargetBytes);
    this.#lastTarget = { text, target };
    return target;
  }

  /** The host name that the request is for; throws 400 unless it names one, 403 when it is not ours. */
  #ownHost({ request }: Exchange, target: RequestTarget): string {
    const { allowedHosts, endpoints } = this.#parts;
    if (countHosts(request.rawHeaders) > 1) throw new PlatformError(400, 'the request has more than one Host header');
    const header = target.authority ?? request.headers.host;
    if (header === undefined && request.httpVersion === '1.1') {
      throw new PlatformError(400, 'the request has no Host header');
    }
    if (header !== undefined && header === this.#lastHost?.header) return this.#lastHost.name;
    const name = header === undefined ? undefined : hostNameOf(header);
    if (name === WINDOW_HOST) {
      throw new PlatformError(
        403,
        `the name ${WINDOW_HOST} is the window's alone (D-214): ask this gateway as localhost`,
      );
    }
    if (header !== undefined && name !== undefined && isOurName(name, allowedHosts)) {
      this.#lastHost = { header, name };
      return name;
    }
    if (name !== undefined && endpoints.hasHost(name)) return name;
    const known = ['localhost', '*.localhost', '127.0.0.0/8', '[::1]', ...allowedHosts].join(', ');
    throw new PlatformError(
      403,
      `requests to host '${(header ?? '').slice(0, 255)}' are refused: this gateway answers to ${known} and the hosts of API ` +
        "endpoints; add the name to an endpoint's hosts, or to the setting allowedHosts",
    );
  }

  /**
   * The routes of a path. A built-in one gives way to an endpoint of that very path (`/async` of an API `api`, D-165), and to no
   * other, whatever its hosts (D-151).
   */
  #routesOf(host: string, segments: readonly string[]): readonly (Endpoint | BuiltInRoute)[] | undefined {
    const found = this.#parts.endpoints.find(host, segments);
    const builtIn = this.#parts.builtIns.find(segments);
    if (!builtIn) return found;
    const depth = found?.[0]?.prefix.length;
    return depth === segments.length ? found : [builtIn];
  }

  async #serve(exchange: Exchange, endpoint: Endpoint, target: RequestTarget): Promise<Answer | undefined> {
    const { callers, view, limits, nowMs } = this.#parts;
    const { request, response } = exchange;
    const peer = request.socket.remoteAddress;
    if (endpoint.whitelist && !endpoint.whitelist.has(peer)) {
      throw new PlatformError(
        403,
        `calls from ${peer ?? 'an unknown address'} are not allowed by this endpoint's whitelist`,
      );
    }
    const who = callers.identify(exchange);
    if (endpoint.security) callers.requireListed(who, endpoint.security, endpoint.id);
    const to = endpoint.target;
    const lambda = to.kind === 'lambda' ? view.find(to.id) : undefined;
    if (lambda) callers.requireInvoke(who, lambda);
    exchange.passed('auth');
    if (endpoint.limit) {
      endpoint.limit.count(nowMs());
      exchange.showLimit(endpoint.limit, nowMs());
      exchange.passed('limit');
    }
    if (to.kind === 'container') {
      exchange.goUpstream();
      try {
        await this.#forward(exchange, to, endpoint.prefix, target);
      } finally {
        exchange.backFromUpstream();
      }
      return undefined;
    }
    refuseWebSocket(exchange);
    exchange.body = hasBody(request) ? await readBody(request, response, limits.requestBodyBytes) : NO_BODY;
    exchange.passed('body');
    const call = lambdaCall(exchange, {
      trigger: to.isSynchronous ? 'gateway' : 'async',
      body: exchange.body,
      path: restAfter(target.path, endpoint.prefix.length),
      query: target.query,
      who,
      isHttpAware: to.isHttpAware,
      apiEndpointId: endpoint.id,
    });
    if (!to.isSynchronous) return this.#parts.calls.accept(to.id, call);
    exchange.goUpstream();
    const invocation = await this.#parts.invoker.invoke(to.id, call); // never rejects
    exchange.backFromUpstream();
    return lambdaAnswer(invocation, to.isHttpAware);
  }

  async #forward(
    exchange: Exchange,
    to: EndpointTarget & { kind: 'container' },
    prefix: readonly string[],
    { authority, path, query }: RequestTarget,
  ): Promise<void> {
    const { containers, view, version, limits } = this.#parts;
    const { request, response, upgrade } = exchange;
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
      controlHeaders: (own) => exchange.controlHeaders(version, own),
      witness: exchange.witness(),
    });
    if (!upgrade) return containers.forward(call);
    const tunnel = await containers.upgrade(call, upgrade);
    if (tunnel) await exchange.follow(tunnel);
  }
}

/**
 * The route whose preflight the gateway answers (D-158): that of the method which the page asks for, or any of the path, whose
 * answer tells the page what it may use. Undefined when the request is no preflight, or one that goes to the target.
 */
function preflightedRoute<T extends Endpoint | BuiltInRoute>(
  request: IncomingMessage,
  routes: readonly T[],
): T | undefined {
  const wanted = preflightedMethod(request);
  if (wanted === undefined || routes.some((route) => route.methods?.has('OPTIONS'))) return undefined;
  const route = routeForMethod(routes, wanted) ?? routes[0];
  return route?.cors ? route : undefined;
}

function methodNotAllowed(request: IncomingMessage, routes: readonly (Endpoint | BuiltInRoute)[]): PlatformError {
  const allow = methodsOf(routes);
  return new PlatformError(405, `${request.method} is not allowed here; use ${allow}`, { headers: { Allow: allow } });
}

/** Answered as a plain call, a WebSocket client would be told nothing. */
function refuseWebSocket({ upgrade }: Exchange): void {
  if (!upgrade) return;
  throw new PlatformError(501, 'this endpoint leads to a lambda, which cannot hold a WebSocket; use a container');
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}
