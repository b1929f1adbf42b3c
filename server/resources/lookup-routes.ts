import { ENVIRONMENT, enclosing, mergedEnv, ORGANIZATION, WORKSPACE } from '../model/hierarchy.ts';
import type { JsonObject } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { ok, type ResourceRequest, type Route } from './request.ts';
import type { ResourceService } from './resource-service.ts';

const WITH_ENV = ['workspaces', 'environments', 'lambdas', 'containers', 'jobs'];

/** What is computed from where a resource stands: inherited environment variables, its context, its actions (D-112, D-015). */
export function lookupRoutes(service: ResourceService): Route[] {
  const { view } = service;

  const env = (request: ResourceRequest, resource: StoredResource) => {
    service.demandView(request.act, resource);
    return ok(mergedEnv(view, resource));
  };
  const context = (request: ResourceRequest, resource: StoredResource) => {
    service.demandView(request.act, resource);
    const link = (found: StoredResource | undefined) => found && request.renderer.link(found);
    const workspace = link(enclosing(view, resource, WORKSPACE));
    const environment = link(enclosing(view, resource, ENVIRONMENT));
    const isPlace = [ORGANIZATION, WORKSPACE, ENVIRONMENT].includes(resource.type);
    const found: JsonObject = {
      organization: request.renderer.link(enclosing(view, resource, ORGANIZATION) ?? view.root),
      ...(workspace && { workspace }),
      ...(environment && { environment }),
      ...(!isPlace && { resource: request.renderer.link(resource) }),
    };
    return ok(found);
  };
  const actions = (request: ResourceRequest, resource: StoredResource) => {
    service.demandView(request.act, resource);
    return ok([]);
  };
  return [
    { verb: 'get', path: '/:fqon/env', handle: (request) => env(request, request.organization()) },
    ...WITH_ENV.map(
      (word): Route => ({
        verb: 'get',
        path: `/:fqon/${word}/:id/env`,
        handle: (request) => env(request, request.resource(word)),
      }),
    ),
    {
      verb: 'get',
      path: '/lambdas/:id/env',
      handle: (request) => env(request, request.resource('lambdas')),
    },
    { verb: 'get', path: '/:fqon/context', handle: (request) => context(request, request.organization()) },
    { verb: 'get', path: '/:fqon/:word/:id/context', handle: (request) => context(request, request.resource()) },
    {
      verb: 'get',
      path: '/:fqon/:word/:id/:childWord/:childId/context',
      handle: (request) => context(request, request.childResource()),
    },
    { verb: 'get', path: '/:fqon/actions', handle: (request) => actions(request, request.organization()) },
    { verb: 'get', path: '/:fqon/:word/:id/actions', handle: (request) => actions(request, request.resource()) },
  ];
}
