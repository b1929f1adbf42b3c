import { openTypeRoutes } from '../../api/routes/meta-open.ts';
import { scaleRoutes } from '../../api/routes/meta-types.ts';
import type { MountedRoute } from '../../api/server/mount-routes.ts';
import { PlatformError } from '../../model/errors.ts';
import type { Moves } from './moves.ts';
import type { RecordView } from './renderer.ts';
import type { ExtraInput, ResourceRouteParts } from './route-parts.ts';

/** Migrate, promote and scale: `POST F/containers|lambdas/{id}/...`, 202 with the full record (D-008, D-053, D-131). */
export function workloadRouter(
  { service, answer }: ResourceRouteParts,
  moves: Moves,
  maxInstances: number,
): MountedRoute[] {
  const accepted = ({ renderer }: ExtraInput, id: string): RecordView => {
    const record = service.view.find(id);
    if (!record) throw new PlatformError('not_found', `resource ${id} not found`);
    return renderer.record(record);
  };
  const { migrate, promote } = openTypeRoutes;
  const rows = { migrate, promote, ...scaleRoutes };
  return answer(rows, {
    async migrate({ found: { resource_id: source }, query, ...input }) {
      await moves.migrate(input.actor, source, query.provider);
      return accepted(input, source.id);
    },
    async promote({ found: { resource_id: source }, query, ...input }) {
      await moves.promote(input.actor, source, query.target);
      return accepted(input, source.id);
    },
    async scaleContainer({ found: { container_id: container }, query: { numInstances }, ...input }) {
      if (numInstances > maxInstances) {
        throw new PlatformError(
          'invalid_query',
          `query parameter 'numInstances' must be an integer from 0 to ${maxInstances}`,
        );
      }
      await service.setProperties(input.actor, container.id, 'scale', (before) => ({
        ...before.properties,
        num_instances: numInstances,
      }));
      return accepted(input, container.id);
    },
  });
}
