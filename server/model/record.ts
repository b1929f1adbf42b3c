import type { Uuid } from './ids.ts';
import type { JsonObject } from './json.ts';

/** Whether a resource is what its record says (D-035). */
export type ResourceState = 'Active' | 'Failed' | 'Pending' | 'Corrupt';

/** What was added to and removed from the inherited identities of one entitlement (D-115), and its stored value. */
export interface Grant {
  add?: Uuid[];
  remove?: Uuid[];
  value?: JsonObject[string];
}

/**
 * A resource as the world file holds it: what was written by a client in its written form (ids, not links)
 * plus who and when. Everything a reader can derive (links, fqon, inherited values) is left out and computed on read.
 */
export interface StoredResource {
  id: Uuid;
  /** Type name after the configurable prefix, e.g. `Resource::Container` (D-080). */
  type: string;
  name: string;
  description?: string;
  /** The resource it was created under; null only for the root organization. */
  parent: Uuid | null;
  state: ResourceState;
  /** The creating user. */
  owner: Uuid;
  /** ISO-8601 UTC with milliseconds (D-014). */
  created: { by: Uuid; at: string };
  modified: { action: 'create' | 'update'; by: Uuid; at: string };
  properties: JsonObject;
  variables?: Record<string, string>;
  tags?: string[];
  /** Keyed by action, e.g. `container.view`. */
  grants?: Record<string, Grant>;
}

/** The whole world: the document that the store keeps, patches and replays. */
export interface World {
  /** Version of this file format. */
  format: 1;
  /** Marks the containers, networks and volumes that belong to this world. */
  id: Uuid;
  resources: Record<Uuid, StoredResource>;
}
