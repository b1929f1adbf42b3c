import type { Operation } from 'fast-json-patch';
import type { z } from 'zod';
import type { JsonObject } from './json.ts';
import type { StoredResource, Uuid, WorldView } from './record.ts';
import type { TypeWord } from './type-words.ts';

/** The link form of a resource (D-020). */
export interface Link extends JsonObject {
  typeId: string;
  id: Uuid;
  href: string;
}

export interface WriteConstraints {
  limits: { maxInstances: number; maxLambdaTimeoutS: number };
  /** Host folders that host_path volumes can use (D-079). */
  allowedHostPaths: readonly string[];
  /** Host names of the platform, which endpoints cannot use (D-151), in canonical form (`canonicalHost`). */
  ownHosts: ReadonlySet<string>;
}

export interface WriteContext extends WriteConstraints {
  view: WorldView;
  parent: StoredResource;
  previous?: StoredResource;
}

/** A record to be stored. `properties` is in written form and has passed the schema of the type. */
export interface Draft {
  id: Uuid;
  /** Full type name without the prefix; for providers and rules the sub-type. */
  type: string;
  name: string;
  description?: string;
  properties: JsonObject;
}

/** An additional record in the same commit, such as the inline volume of a container. */
export interface DerivedRecord extends Draft {
  collection: TypeWord;
  parent: Uuid;
}

export interface ReadContext {
  view: WorldView;
  gatewayUrl: string;
  /** Link to a resource, with name (D-020, D-021). */
  link(resource: StoredResource): Link;
  /** Full name of a type with the configured prefix (D-080). */
  fullName(type: string): string;
}

export interface NameRule {
  pattern: RegExp;
  maxLength: number;
  /** Completes "name must ...". */
  hint: string;
}

/** All that is known of a type; routes, OpenAPI, search, forms and docs follow. A new one is a file in `types/`, a word and a line in `registry.ts`. */
export interface ResourceType {
  /** Name without the prefix, e.g. `Resource::Container`. */
  readonly name: string;
  /** Id of a type that is not in the table of type names (`type-names.ts`). */
  readonly id?: Uuid;
  /** Plural name in paths, e.g. `containers`. */
  readonly collection: TypeWord;
  /** Noun of its permissions, e.g. `container` (D-116). */
  readonly singular: string;
  readonly summary: string;
  readonly parents: readonly TypeWord[];
  /** Status if the parent in the path does not exist: 404, or 422 for api and endpoint (D-182). */
  readonly unknownParentStatus?: 404 | 422;
  /** Verbs of permissions beyond create, view, update, delete, e.g. `scale`. */
  readonly verbs?: readonly string[];
  /** Written form. Strict objects reject unknown members, loose ones keep, plain ones drop them (D-033). Has references, secrets, form facts. */
  readonly properties: z.ZodType;
  /** Body of a request that creates one. Its ids of other resources are placeholders. */
  readonly example: { name: string; resource_type?: string; properties: JsonObject };
  /** Initial values of the form for a new resource. */
  readonly first?: JsonObject;
  /** Properties that only the server sets; ignored in POST and PUT, not editable by PATCH (D-028, D-093). Always includes `parent`. */
  readonly serverSet: readonly string[];
  /** Server-set properties that are never returned (D-029). For secrets that clients write, use secret facts in the schema. */
  readonly hidden?: readonly string[];
  /** For users: properties that users can change on their own record without any permission (D-117). */
  readonly ownProperties?: readonly string[];
  readonly nameRule?: NameRule;
  /** Names are unique among siblings (default) or in the whole world (D-184). */
  readonly nameScope?: 'parent' | 'world';
  /** True if PUT replaces the whole record (D-099). */
  readonly replaceable?: boolean;
  /** Can PATCH change the name (default: true, D-093)? */
  readonly renamable?: boolean;
  /** Properties that a patch sees in their read form, because a write removes what the server adds (D-093). */
  readonly patchedAsShown?: readonly string[];
  /** Pointers where `replace` also creates (D-095). */
  readonly replaceCreates?: readonly string[];
  /** Further type names of records of this type (providers, rules). The abstract one is `name` itself. */
  readonly subTypes?: readonly string[];
  /** Texts under which `WorldView.referrers` finds a record, for what must be unique beyond a name. No text is an id. */
  keys?(record: StoredResource): readonly string[];
  /**
   * Validates rules that need more than the record: conflicts, compatibility. New references have already been checked; unchanged ones can
   * point to deleted resources. Returns the properties to store (normalized, with defaults of containers) and further records; throws
   * PlatformError.
   */
  validate?(draft: Draft, context: WriteContext): { properties: JsonObject; derived?: DerivedRecord[] };
  /** Paths of properties that only root can set or change in a record of that type name. */
  rootOnly?(typeName: string): readonly (readonly string[])[];
  /** Converts a type-specific patch operation to RFC 6902 (D-073), given the record after the previous operations. */
  rewrite?(operation: Operation, record: Pick<StoredResource, 'properties'>): Operation;
  /** Validates rules for a deletion, beyond children and workloads; throws PlatformError. */
  release?(record: StoredResource, view: WorldView): void;
  /** The stored properties as a client sees them; the serializer handles `parent`, live state and hidden ones. Default: as stored. */
  toView?(record: StoredResource, context: ReadContext): JsonObject;
  /** Lists of this type below a resource of that type that contain relations other than parent and child (D-004, D-186). */
  readonly listedBelow?: Readonly<
    Partial<Record<TypeWord, (above: StoredResource, view: WorldView) => readonly StoredResource[]>>
  >;
  /** For types that can be moved: the properties that a promotion copies to an existing resource (D-133). */
  readonly promoted?: readonly string[];
  /** The values of `?embed=` (D-037): plural name to the records that replace the property. */
  readonly embed?: Readonly<Record<string, (record: StoredResource, view: WorldView) => StoredResource[]>>;
}
