import { v4, v5 } from 'uuid';
import { PlatformError } from './errors.ts';
import type { JsonObject } from './json.ts';
import type { TypeWord } from './type-words.ts';

/** The state of a resource: whether it matches its record (D-035). */
export type ResourceState = 'Active' | 'Failed' | 'Pending' | 'Corrupt';

/** The identities added to and removed from the inherited ones of an entitlement (D-115), in stored form. */
export interface Grant {
  add?: Uuid[];
  remove?: Uuid[];
  value?: JsonObject[string];
}

/** A resource in the world file: its written form with author and time. Derived data (links, fqon, inherited values) is not stored. */
export interface StoredResource {
  id: Uuid;
  /** Type name without the configurable prefix, e.g. `Resource::Container` (D-080). */
  type: string;
  name: string;
  description?: string;
  parent: Uuid | null;
  state: ResourceState;
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

/** The whole world: the document that the store saves, patches and replays. */
export interface World {
  format: 1;
  /** Identifies the containers, networks and volumes of this world. */
  id: Uuid;
  resources: Record<Uuid, StoredResource>;
}

/** The resources of a whole world, current or past. */
export type ResourcesById = ReadonlyMap<Uuid, StoredResource>;

/** A resource id: a UUID in lower case (D-014). */
export type Uuid = string;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: unknown): text is Uuid {
  return typeof text === 'string' && UUID.test(text);
}

/** The lower-case UUID from a path or query; throws 400 with the text and its position (D-003). */
export function parseUuid(text: string, where = 'id'): Uuid {
  if (!UUID.test(text)) throw new PlatformError('invalid_parameter', `${where} '${text.slice(0, 64)}' is not a UUID`);
  return text.toLowerCase();
}

export function newId(): Uuid {
  return v4();
}

/** An id derived deterministically from two others (RFC 9562 version 5). */
export function derivedId(namespace: Uuid, name: string): Uuid {
  // As bytes, because v5 rejects UUIDs without an RFC 9562 version, which clients may choose as ids (D-030).
  return v5(name, Buffer.from(namespace.replaceAll('-', ''), 'hex'));
}

/** The current world by indexes: the cost depends on the result, not on the world's size. Lists are oldest first (D-186). */
export interface WorldView {
  readonly root: StoredResource;
  /** Changes with each change of the world. */
  readonly revision: number;
  find(id: Uuid): StoredResource | undefined;
  children(parentId: Uuid, collection?: TypeWord): readonly StoredResource[];
  /** All resources of a type that an organization owns, at any depth but not in sub-organizations (D-186). */
  ownedBy(orgId: Uuid, collection: TypeWord): readonly StoredResource[];
  all(collection: TypeWord): readonly StoredResource[];
  /** Resources with exactly that name: below one parent, or anywhere if parentId is undefined (D-184). */
  named(collection: TypeWord, name: string, parentId?: Uuid): readonly StoredResource[];
  /** Records whose properties refer to this id (endpoints of a lambda, groups of a user ...) or have it as a key (`ResourceType.keys`). */
  referrers(id: string, collection?: TypeWord): readonly StoredResource[];
  /** Returns the referrers that belong to another organization. Cheap if there are none. */
  referrersOutside(orgId: Uuid, id: string, collection: TypeWord): readonly StoredResource[];
}
