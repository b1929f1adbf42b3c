import type { Response } from 'express';
import type { Rows } from '../contract/row.ts';
import type { Handlers, Served } from '../http/serve.ts';
import type { StoredResource } from '../model/record.ts';
import type { Act } from './act.ts';
import type { PathFinders } from './paths.ts';
import type { Renderer, ShownRecord } from './renderer.ts';
import type { ResourceService } from './resource-service.ts';

/** What handlers of the resource service are given of each request, besides what its row says. */
export interface Given {
  act: Act;
  /** Shows records as this client sees them. */
  renderer: Renderer;
}

/** What the routes of the resource service share. */
export interface ResourceRouteParts {
  service: ResourceService;
  /** Lets handlers answer the rows of a table. */
  answer<Table extends Rows>(table: Table, handlers: Handlers<Table, PathFinders, Given>): Served[];
}

/** The answer of a create: the new record, and where it is (D-008). */
export function created(
  resource: StoredResource,
  { renderer, res }: { renderer: Renderer; res: Response },
): ShownRecord {
  res.set('Location', renderer.hrefOf(resource));
  return renderer.record(resource);
}
