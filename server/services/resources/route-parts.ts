import type { Response } from 'express';
import type { Routes } from '../../api/routes/route.ts';
import type { Handlers, MountedRoute } from '../../api/server/mount-routes.ts';
import type { StoredResource } from '../../model/record.ts';
import type { Actor } from './actor.ts';
import type { PathResolvers } from './paths.ts';
import type { RecordView, Renderer } from './renderer.ts';
import type { ResourceService } from './resource-service.ts';

/** Context that handlers of the resource service get with each request, in addition to their parsed input. */
export interface ExtraInput {
  actor: Actor;
  /** Shows records as this client sees them. */
  renderer: Renderer;
}

/** Dependencies that the routes of the resource service share. */
export interface ResourceRouteParts {
  service: ResourceService;
  answer<Table extends Routes>(table: Table, handlers: Handlers<Table, PathResolvers, ExtraInput>): MountedRoute[];
}

/** The answer of a create: the new record, and where it is (D-008). */
export function created(
  resource: StoredResource,
  { renderer, res }: { renderer: Renderer; res: Response },
): RecordView {
  res.set('Location', renderer.hrefOf(resource));
  return renderer.record(resource);
}
