import { openTypeRows } from '../contract/meta-open.ts';
import { scaleRows } from '../contract/meta-types.ts';
import type { Served } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';
import type { Moves } from './moves.ts';
import type { ShownRecord } from './renderer.ts';
import type { Given, ResourceRouteParts } from './route-parts.ts';

/** Migrate, promote and scale: `POST F/containers|lambdas/{id}/...`, 202 with the full record (D-008, D-053, D-131). */
export function workloadRoutes({ service, answer }: ResourceRouteParts, moves: Moves, maxInstances: number): Served[] {
  const accepted = ({ renderer }: Given, id: string): ShownRecord => {
    const record = service.view.find(id);
    if (!record) throw new PlatformError(404, `resource ${id} not found`);
    return renderer.record(record);
  };
  const { migrate, promote } = openTypeRows;
  return [
    ...answer(
      { migrate, promote },
      {
        async migrate({ found: { resource_id: source }, query, ...given }) {
          await moves.migrate(given.act, source, query.provider);
          return accepted(given, source.id);
        },
        async promote({ found: { resource_id: source }, query, ...given }) {
          await moves.promote(given.act, source, query.target);
          return accepted(given, source.id);
        },
      },
    ),
    ...answer(scaleRows, {
      async scaleContainer({ found: { container_id: container }, query: { numInstances }, ...given }) {
        if (numInstances > maxInstances) {
          throw new PlatformError(400, `query parameter 'numInstances' must be an integer from 0 to ${maxInstances}`);
        }
        await service.setProperties(given.act, container.id, 'scale', (before) => ({
          ...before.properties,
          num_instances: numInstances,
        }));
        return accepted(given, container.id);
      },
    }),
  ];
}
