import { rootOnly } from '../model/errors.ts';
import { demandSubType, refuseListPatch } from './record-routes.ts';
import { type Answer, created, ok, type ResourceRequest, type Route } from './request.ts';
import type { ResourceService } from './resource-service.ts';
import { list, read } from './selection.ts';

/** Routes that name no organization (D-015, D-016, D-017, D-005). */
export function globalRoutes(service: ResourceService): Route[] {
  const { view } = service;

  /** The caller's own record, for which no right is needed. */
  const self = (request: ResourceRequest): Answer => {
    const { userId } = request.act.caller;
    const user = view.find(userId);
    if (!user) throw new Error(`the authenticated user ${userId} is not in the world`);
    return ok(request.renderer.record(user));
  };
  const listAll = (request: ResourceRequest, word: 'orgs' | 'users' | 'rules'): Answer => {
    demandSubType(request, word);
    return list(service, request, view.all(word), word);
  };
  const noOp = (path: string, answer: string): Route => ({
    verb: 'post',
    path,
    handle: (request) => {
      demandRoot(request);
      return ok({ [answer]: true });
    },
  });
  return [
    { verb: 'get', path: '/users/self', handle: self },
    ...(['orgs', 'users', 'rules'] as const).flatMap((word): Route[] => [
      { verb: 'get', path: `/${word}`, handle: (request) => listAll(request, word) },
      { verb: 'patch', path: `/${word}`, handle: refuseListPatch },
    ]),
    {
      verb: 'post',
      path: '/orgs',
      handle: async (request) =>
        created(await service.create(request.act, view.root.id, 'orgs', await request.json()), request.renderer),
    },
    { verb: 'get', path: '/top/:word/:id', handle: (request) => read(service, request, request.resource()) },
    noOp('/sync', 'synced'),
    noOp('/bootstrap', 'bootstrapped'),
  ];
}

function demandRoot(request: ResourceRequest): void {
  if (!request.act.caller.isRoot) throw rootOnly('org.update');
}
