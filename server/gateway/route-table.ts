export interface Route {
  /** Host names, lower case and without port; empty: any host (D-151). */
  readonly hosts: readonly string[];
  /** Decoded segments of `/{api}{resource}`; empty for an endpoint with hosts and no resource. */
  readonly prefix: readonly string[];
  /** Upper case; undefined: all methods. */
  readonly methods: ReadonlySet<string> | undefined;
}

interface Node<T> {
  readonly routes: T[];
  readonly below: Map<string, Node<T>>;
}

const ANY_HOST = '';

const ALL_METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** One tree of path segments per host (D-151): the cost of a lookup does not depend on the number of routes. */
export class RouteTable<T extends Route> {
  readonly #trees = new Map<string, Node<T>>();

  add(route: T): void {
    for (const host of hostsOf(route)) {
      let node = upsert(this.#trees, host);
      for (const segment of route.prefix) node = upsert(node.below, segment);
      node.routes.push(route);
    }
  }

  remove(route: T): void {
    for (const host of hostsOf(route)) prune(this.#trees, [host, ...route.prefix], route);
  }

  hasHost(host: string): boolean {
    return host !== ANY_HOST && this.#trees.has(host);
  }

  /** A host match beats none, then the longest prefix. Routes of that path for any host come last (D-151). Undefined: D-152. */
  find(host: string, segments: readonly string[]): readonly T[] | undefined {
    const hostMatch = host === ANY_HOST ? undefined : deepest(this.#trees.get(host), segments);
    const any = this.#trees.get(ANY_HOST);
    if (!hostMatch) return deepest(any, segments)?.routes;
    const anyHostRoutes = nodeAt(any, segments, hostMatch.depth)?.routes;
    return anyHostRoutes ? [...hostMatch.routes, ...anyHostRoutes] : hostMatch.routes;
  }
}

function hostsOf(route: Route): readonly string[] {
  return route.hosts.length > 0 ? route.hosts : [ANY_HOST];
}

function upsert<T>(nodes: Map<string, Node<T>>, key: string): Node<T> {
  const node = nodes.get(key) ?? { routes: [], below: new Map() };
  nodes.set(key, node);
  return node;
}

function prune<T>(nodes: Map<string, Node<T>>, path: readonly string[], route: T): void {
  const [key = ANY_HOST, ...rest] = path;
  const node = nodes.get(key);
  if (!node) return;
  if (rest.length > 0) prune(node.below, rest, route);
  else if (node.routes.includes(route)) node.routes.splice(node.routes.indexOf(route), 1);
  if (node.routes.length === 0 && node.below.size === 0) nodes.delete(key);
}

function deepest<T>(
  root: Node<T> | undefined,
  segments: readonly string[],
): { routes: T[]; depth: number } | undefined {
  let found: { routes: T[]; depth: number } | undefined;
  let node = root;
  for (let depth = 0; node; depth++) {
    if (node.routes.length > 0) found = { routes: node.routes, depth };
    const segment = segments[depth];
    node = segment === undefined ? undefined : node.below.get(segment);
  }
  return found;
}

function nodeAt<T>(root: Node<T> | undefined, segments: readonly string[], depth: number): Node<T> | undefined {
  let node = root;
  for (const segment of segments.slice(0, depth)) node = node?.below.get(segment);
  return node;
}

/** The route of a path for a method: one that lists it, otherwise one that accepts all methods; GET includes HEAD (D-152). */
export function routeForMethod<T extends Pick<Route, 'methods'>>(routes: readonly T[], method: string): T | undefined {
  let forAll: T | undefined;
  for (const route of routes) {
    if (route.methods?.has(method)) return route;
    if (!route.methods) forAll ??= route;
  }
  return forAll ?? (method === 'HEAD' ? routeForMethod(routes, 'GET') : undefined);
}

export function methodsOf(routes: readonly Pick<Route, 'methods'>[]): string[] {
  const isAllowed = (method: string) => routeForMethod(routes, method) !== undefined;
  return ALL_METHODS.filter(isAllowed);
}
