import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { methodsOf, type Route, RouteTable, routeForMethod } from './route-table.ts';

function route(hosts: string[], path: string, methods?: string[]): Route {
  return { hosts, prefix: path.split('/').filter(Boolean), methods: methods && new Set(methods) };
}

function tableOf(...routes: Route[]): RouteTable<Route> {
  const table = new RouteTable<Route>();
  for (const entry of routes) table.add(entry);
  return table;
}

/** D-151 word by word, over all routes. */
function findByTheWord(routes: readonly Route[], host: string, path: readonly string[]): Route[] {
  const isPrefix = ({ prefix }: Route) => prefix.every((segment, at) => path[at] === segment);
  const matching = routes.filter(
    (candidate) => (candidate.hosts.length === 0 || candidate.hosts.includes(host)) && isPrefix(candidate),
  );
  const byHost = matching.filter(({ hosts }) => hosts.length > 0);
  const best = byHost.length > 0 ? byHost : matching;
  const longest = Math.max(...best.map(({ prefix }) => prefix.length));
  return matching.filter(({ prefix }) => prefix.length === longest);
}

const segment = fc.constantFrom('a', 'b', 'c');
const host = fc.constantFrom('x.test', 'y.test', 'z.test');
const anyRoute: fc.Arbitrary<Route> = fc.record({
  hosts: fc.uniqueArray(host, { maxLength: 2 }),
  prefix: fc.array(segment, { maxLength: 4 }),
  methods: fc.option(fc.constant(new Set(['GET'])), { nil: undefined }),
});

describe('the route table', () => {
  it('finds the endpoint that the decision defines, after any additions and removals', () => {
    const changes = fc.array(fc.tuple(anyRoute, fc.boolean()), { maxLength: 12 });
    fc.assert(
      fc.property(changes, host, fc.array(segment, { maxLength: 5 }), (routes, requestedHost, path) => {
        const table = tableOf(...routes.map(([entry]) => entry));
        for (const [entry, stays] of routes) if (!stays) table.remove(entry);
        const expected = findByTheWord(
          routes.filter(([, stays]) => stays).map(([entry]) => entry),
          requestedHost,
          path,
        );
        expect(new Set(table.find(requestedHost, path))).toEqual(new Set(expected));
      }),
      { numRuns: 1000 },
    );
  });

  it('prefers a host match over a longer path', () => {
    const [hostRoute, longer] = [route(['x.test'], '/a'), route([], '/a/b')];
    expect(tableOf(hostRoute, longer).find('x.test', ['a', 'b'])).toEqual([hostRoute]);
    expect(tableOf(hostRoute, longer).find('y.test', ['a', 'b'])).toEqual([longer]);
  });

  it('matches whole segments only', () => {
    expect(tableOf(route([], '/web/lead')).find('x.test', ['web', 'leads'])).toBeUndefined();
  });

  it('forgets a host with its last route', () => {
    const hostRoute = route(['x.test'], '/a/b');
    const table = tableOf(hostRoute);
    expect(table.hasHost('x.test')).toBe(true);
    table.remove(hostRoute);
    expect(table.hasHost('x.test')).toBe(false);
  });
});

describe('the method among the routes of a path', () => {
  const [get, post, all] = [route([], '/a', ['GET']), route([], '/a', ['POST']), route([], '/a')];

  it('goes to the route that lists it, else to one that takes all', () => {
    expect(routeForMethod([get, post], 'POST')).toBe(post);
    expect(routeForMethod([get, all], 'GET')).toBe(get);
    expect(routeForMethod([get, all], 'PURGE')).toBe(all);
    expect(routeForMethod([get, post], 'PUT')).toBeUndefined();
  });

  it('takes HEAD where GET is, unless a route lists HEAD', () => {
    const head = route([], '/a', ['HEAD']);
    expect(routeForMethod([get], 'HEAD')).toBe(get);
    expect(routeForMethod([get, head], 'HEAD')).toBe(head);
    expect(routeForMethod([post], 'HEAD')).toBeUndefined();
  });

  it('is the union of the methods of the routes', () => {
    expect(methodsOf([get, post])).toEqual(['GET', 'HEAD', 'POST']);
    expect(methodsOf([all])).toEqual(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
  });
});
