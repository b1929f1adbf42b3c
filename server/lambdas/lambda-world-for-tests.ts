import type { StoredResource } from '../model/record.ts';
import type { WorldView } from '../model/world-view.ts';

/** For tests and benchmarks: an inline lambda. */
export function inlineLambda(id: string, code: string, more: StoredResource['properties'] = {}): StoredResource {
  const by = { by: 'root', at: new Date(0).toISOString() };
  const properties = { runtime: 'nodejs', code_type: 'inline', code, handler: 'run', timeout: 60, ...more };
  const rest = { parent: null, state: 'Active', owner: 'root', created: by } as const;
  return { id, type: 'Resource::Node::Lambda', name: id, ...rest, modified: { action: 'create', ...by }, properties };
}

/** For tests and benchmarks: a world in which there is nothing but lambdas. */
export function worldOf(...lambdas: StoredResource[]): WorldView {
  const world = new Map(lambdas.map((one) => [one.id, one]));
  const none = (): never[] => [];
  return {
    root: inlineLambda('root', ''),
    find: (id) => world.get(id),
    all: none,
    children: none,
    ownedBy: none,
    named: none,
    referrers: none,
  };
}
