import type { Operation } from 'fast-json-patch';
import type { z } from 'zod';
import type { Uuid } from './ids.ts';
import type { JsonObject } from './json.ts';
import type { StoredResource } from './record.ts';
import type { TypeWord } from './type-words.ts';
import type { WorldView } from './world-view.ts';

/** The link form of a resource (D-020). */
export interface Link extends JsonObject {
  typeId: string;
  id: Uuid;
  href: string;
}

/** What of the configuration every write is held to. */
export interface WriteLaws {
  limits: { maxInstances: number; maxLambdaTimeoutS: number };
  /** Host folders that a host_path volume may name (D-079). */
  allowedHostPaths: readonly string[];
  /** Host names that are the platform's own, and no endpoint's (D-151); in one spelling (`canonicalHost`). */
  ownHosts: ReadonlySet<string>;
}

/** What a write is checked against. */
export interface WriteContext extends WriteLaws {
  view: WorldView;
  /** The resource that the record is, or will be, a child of. */
  parent: StoredResource;
  /** The record as stored before; absent on create. */
  previous?: StoredResource;
}

/** A record about to be stored. `properties` is in written form and has passed the type's schema. */
export interface Draft {
  id: Uuid;
  /** Full type name after the prefix; for providers and rules the sub-type. */
  type: string;
  name: string;
  description?: string;
  properties: JsonObject;
}

/** A further record that is created in the same commit, such as a container's inline volume. */
export interface Companion extends Draft {
  word: TypeWord;
  parent: Uuid;
}

/** What a read form may draw on. */
export interface ReadContext {
  view: WorldView;
  gatewayUrl: string;
  /** Link of a resource, with name (D-020, D-021). */
  link(resource: StoredResource): Link;
  /** Full name of a type with the configured prefix (D-080). */
  fullName(type: string): string;
  /** Live state that is not part of the world: a container's or lambda's status and counters, merged into properties. */
  live(resource: StoredResource): JsonObject;
}

/** How a name has to look, beyond D-031. */
export interface NameRule {
  pattern: RegExp;
  maxLength: number;
  /** Completes "name must ...". */
  hint: string;
}

/**
 * One row of the registry: everything the platform knows of a resource type. Routes, OpenAPI, search, forms and docs
 * are made from it; adding a type is adding one file under `types/` and one line in `registry.ts`.
 */
export interface ResourceType {
  /** Name after the prefix, e.g. `Resource::Container`. */
  readonly name: string;
  /** Of one that the table of type names (`type-names.ts`) does not have. */
  readonly id?: Uuid;
  /** Path word, e.g. `containers`. */
  readonly word: TypeWord;
  /** Noun of its rights, e.g. `container` (D-116). */
  readonly noun: string;
  /** One sentence for docs. */
  readonly summary: string;
  /** Types it may be created under, by path word. */
  readonly parents: readonly TypeWord[];
  /** Status when the parent in the path does not exist: 404, or 422 for api and endpoint (D-182). */
  readonly unknownParentStatus?: 404 | 422;
  /** Rights verbs beyond create, view, update, delete, e.g. `scale`. */
  readonly verbs?: readonly string[];
  /**
   * Schema of `properties` in written form. Strict objects refuse unknown members, loose keep them, plain drop them (D-033). What
   * a property names (`reference-facts.ts`), which nobody reads back (`secret-facts.ts`) and what forms know of it (`form-facts.ts`)
   * stands on it.
   */
  readonly properties: z.ZodType;
  /** What the form of a new one begins with. */
  readonly first?: JsonObject;
  /** Properties that only the server sets; ignored in POST and PUT, not editable by PATCH (D-028, D-093). `parent` is always one. */
  readonly serverSet: readonly string[];
  /** Of the server-set ones those that are never rendered (D-029). What a client writes and nobody reads is a secret fact of its schema. */
  readonly hidden?: readonly string[];
  /** Of a user: properties that this user may change without any right (D-117). */
  readonly ownProperties?: readonly string[];
  readonly nameRule?: NameRule;
  /** Sibling names are unique per parent (default), or in the whole world (D-184). */
  readonly nameScope?: 'parent' | 'world';
  /** PUT replaces the whole record (D-099). */
  readonly replaceable?: boolean;
  /** May PATCH change the name? Default true (D-093). */
  readonly renamable?: boolean;
  /** Properties that a patch finds in their read form, because a write leaves out what the server adds to them (D-093). */
  readonly patchedAsShown?: readonly string[];
  /** Paths where `replace` also creates (D-095). */
  readonly replaceCreates?: readonly string[];
  /** Further names, of that table, that records of this word may have (providers, rules). The abstract one is `name` itself. */
  readonly subTypes?: readonly string[];
  /**
   * The rules that need more than the record: conflicts, compatibility. What the record newly names is there, of that type, and
   * within the writer's reach; what it named before may be gone.
   * Returns the properties to store (normalised, defaults of containers filled in) and companions; throws PlatformError.
   */
  admit?(draft: Draft, context: WriteContext): { properties: JsonObject; companions?: Companion[] };
  /** Names of properties, from the outermost in, that only root may set or change in a record of that type name. */
  rootOnly?(typeName: string): readonly (readonly string[])[];
  /** A patch operation in a spelling of this type's own, as one of RFC 6902 (D-073); the record as the operations before have left it. */
  rewrite?(operation: Operation, record: Pick<StoredResource, 'properties'>): Operation;
  /** Rules that must hold before a record goes, beyond children and workloads; throws PlatformError. */
  release?(record: StoredResource, view: WorldView): void;
  /** The stored properties as a client sees them; `parent`, live state and hidden ones are dealt with by the renderer. Default: as stored. */
  present?(record: StoredResource, context: ReadContext): JsonObject;
  /** Lists of this type below a resource of that word which hold what the two relate otherwise than as parent and child (D-004, D-186). */
  readonly listedBelow?: Readonly<
    Partial<Record<TypeWord, (above: StoredResource, view: WorldView) => readonly StoredResource[]>>
  >;
  /** Of what can be moved: the properties that a promotion carries over to a resource that is there already (D-133). */
  readonly promoted?: readonly string[];
  /** What `?embed=` knows (D-037): word to the records that take the property's place. */
  readonly embed?: Readonly<Record<string, (record: StoredResource, view: WorldView) => StoredResource[]>>;
}
