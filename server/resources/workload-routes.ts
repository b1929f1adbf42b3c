import { singleParameter } from '../http/query.ts';
import { PlatformError } from '../model/errors.ts';
import { parseUuid } from '../model/ids.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { Moves } from './moves.ts';
import { type Answer, noRoute, type ResourceRequest, type Route } from './request.ts';
import type { ResourceService } from './resource-service.ts';

/** Migrate, promote and scale: `POST F/containers|lambdas/{id}/...`, 202 with the full record (D-008, D-053, D-131). */
export function workloadRoutes(service: ResourceService, moves: Moves, maxInstances: number): Route[] {
  const accepted = (request: ResourceRequest, id: string): Answer => {
    const record = service.view.find(id);
    if (!record) throw new PlatformError(404, `resource ${id} not found`);
    return { status: 202, body: request.renderer.record(record) };
  };
  const scale = async (request: ResourceRequest): Promise<Answer> => {
    const container = request.resource('containers');
    service.demand(request.act, 'container.scale', container);
    const text = required(request, 'numInstances');
    const wanted = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(wanted <= maxInstances)) {
      throw new PlatformError(400, `query parameter 'numInstances' must be an integer from 0 to ${maxInstances}`);
    }
    await service.setProperties(request.act, container.id, 'scale', (before) => ({
      ...before.properties,
      num_instances: wanted,
    }));
    return accepted(request, container.id);
  };
  const moveRoutes = (word: TypeWord): Route[] => [
    {
      verb: 'post',
      path: `/:fqon/${word}/:id/migrate`,
      handle: async (request) => {
        const source = request.resource(word);
        await moves.migrate(
          request.act,
          source,
          parseUuid(required(request, 'provider'), "query parameter 'provider'"),
        );
        return accepted(request, source.id);
      },
    },
    {
      verb: 'post',
      path: `/:fqon/${word}/:id/promote`,
      handle: async (request) => {
        const source = request.resource(word);
        await moves.promote(request.act, source, parseUuid(required(request, 'target'), "query parameter 'target'"));
        return accepted(request, source.id);
      },
    },
  ];
  return [
    ...moveRoutes('containers'),
    ...moveRoutes('lambdas'),
    { verb: 'post', path: '/:fqon/containers/:id/scale', handle: scale },
    // These are no type words either, whatever they stand after (D-213).
    ...['migrate', 'promote', 'scale', 'redeploy'].map(
      (action): Route => ({
        verb: 'post',
        path: `/:fqon/:word/:id/${action}`,
        handle: (request) => {
          throw noRoute(request);
        },
      }),
    ),
  ];
}

function required(request: ResourceRequest, parameter: string): string {
  const value = singleParameter(request.query, parameter);
  if (value === undefined || value === '') throw new PlatformError(400, `query parameter '${parameter}' is required`);
  return value;
}
