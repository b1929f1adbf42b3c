import { openTypeRoutes } from '../../api/routes/meta-open.ts';
import { scaleRoutes } from '../../api/routes/meta-types.ts';
import type { MountedRoute } from '../../api/server/mount-routes.ts';
import { PlatformError } from '../../model/errors.ts';
import type { Moves } from './moves.ts';
import type { RecordView } from './renderer.ts';
import type { Given, ResourceRouteParts } from './route-parts.ts';

/** Migrate, promote and scale: `POST F/containers|lambdas/{id}/...`, 202 with the full record (D-008, D-053, D-131). */
export function workloadRouter(
  { service, answer }: ResourceRouteParts,
  moves: Moves,
  maxInstances: number,
): MountedRoute[] {
  const accepted = ({ renderer }: Given, id: string): RecordView => {
    const record = service.view.find(id);
    if (!record) throw new PlatformError('not_found', `resource ${id} not found`);
    return renderer.record(record);
  };
  const { migrate, promote } = openTypeRoutes;
  const rows = { migrate, promote, ...scaleRoutes };
  return answer(rows, {
    async migrate({ found: { resource_id: source }, query, ...given }) {
      await moves.migrate(given.actor, source, query.provider);
      return accepted(given, source.id);
    },
    async promote({ found: { resource_id: source }, query, ...given }) {
      await moves.promote(given.actor, source, query.target);
      return accepted(given, source.id);
    },
    async scaleContainer({ found: { container_id: container }, query: { numInstances }, ...given }) {
      if (numInstances > maxInstances) {
        throw new PlatformError(
          'invalid_query',
          `query parameter 'numInstances' must be an integer from 0 to ${maxInstances}`,
        );
      }
      await service.setProperties(given.actor, container.id, 'scale', (before) => ({
        ...before.properties,
        num_instances: numInstances,
      }));
      return accepted(given, container.id);
    },
  });
}
