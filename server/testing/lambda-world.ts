import type { StoredResource, WorldView } from '../model/record.ts';

/** An inline lambda for tests and benchmarks. */
export function inlineLambda(id: string, code: string, more: StoredResource['properties'] = {}): StoredResource {
  const provenance = { by: 'root', at: new Date(0).toISOString() };
  const properties = { runtime: 'nodejs', code_type: 'inline', code, handler: 'run', timeout: 60, ...more };
  const rest = { parent: null, state: 'Active', owner: 'root', created: provenance } as const;
  return {
    id,
    type: 'Resource::Node::Lambda',
    name: id,
    ...rest,
    modified: { action: 'create', ...provenance },
    properties,
  };
}

/** A world for tests and benchmarks that contains only lambdas. */
export function worldOf(...lambdas: StoredResource[]): WorldView {
  const world = new Map(lambdas.map((lambda) => [lambda.id, lambda]));
  const none = (): never[] => [];
  return {
    root: inlineLambda('root', ''),
    find: (id) => world.get(id),
    all: none,
    children: none,
    ownedBy: none,
    named: none,
    referrers: none,
    referrersOutside: none,
  };
}
