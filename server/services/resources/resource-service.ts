import { isDeepStrictEqual } from 'node:util';
import type { Operation } from 'fast-json-patch';
import { causeOf } from '../../model/commit.ts';
import { type Envelope, parseEnvelope, parseProperties, typeNameIn } from '../../model/envelope.ts';
import { PlatformError } from '../../model/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { applyPatch, placesOf } from '../../model/patch/patch.ts';
import { segmentsOf } from '../../model/patch/pointer.ts';
import { newId, parseUuid, type StoredResource, type Uuid, type WorldView } from '../../model/record.ts';
import { typeOf, typeOfWord, typeWords } from '../../model/registry.ts';
import type { DerivedRecord, ResourceType } from '../../model/resource-type.ts';
import { requireRightTo } from '../../model/rules/actions.ts';
import { hashedProperties, hiddenProperties } from '../../model/rules/secrets.ts';
import type { TypeWord } from '../../model/type-words.ts';
import type { WorldStore } from '../../storage/world/world-store.ts';
import type { Actor } from './actor.ts';
import { type DeletionQuery, planDeletion } from './plan-deletion.ts';
import type { Action, Policies } from './policies.ts';
import { optionalMembers, RecordBuilder, type RecordBuilderOptions } from './record-builder.ts';
import type { Renderer } from './renderer.ts';

/** Properties that a PUT leaves as they are stored, and members whose value it does not look at, so absent (D-052). */
const KEPT_BY_PUT = new Set(['provider', 'external_id']);
const IGNORED_BY_PUT = { id: null, resource_type: null };

const UNFORCED: DeletionQuery = { force: false, deleteContainers: false };

export interface ResourceServiceOptions extends Omit<RecordBuilderOptions, 'view'> {
  store: Pick<WorldStore, 'view' | 'commit'>;
  policies: Policies;
  hashPassword(password: string): Promise<string>;
  /** Was an id ever an account's (D-030)? */
  wasAccount(id: Uuid): boolean;
  /** Returns the renderer of records as clients see them, for read-only members in a patch (D-093). */
  renderer(): RecordRenderer;
  /** Called for a record that a PUT or PATCH left unchanged, when nothing is committed. */
  onConfirmed?(resource: StoredResource): void;
  /** Called for each patched record, changed or not, with the patch. */
  onPatched?(resource: StoredResource, operations: readonly Operation[]): void;
}

/** All changes of resources. What is between the last read and the commit is synchronous, so that no two requests can interleave there. */
export class ResourceService {
  readonly drafts: RecordBuilder;
  readonly #options: ResourceServiceOptions;

  constructor(options: ResourceServiceOptions) {
    this.#options = options;
    this.drafts = new RecordBuilder({ ...options, view: options.store.view });
  }

  get view(): WorldView {
    return this.#options.store.view;
  }

  /** The current record; throws 404 if there is none. */
  get(id: Uuid): StoredResource {
    const resource = this.view.find(id);
    if (!resource) throw new PlatformError('not_found', `resource ${id} not found`);
    return resource;
  }

  /** Throws 403 unless the caller may do the action on the resource (D-117, D-118). */
  demand(actor: Actor, action: string, resource: StoredResource): void {
    requireRightTo(this.#options.authorizer, { caller: actor.caller, action, resource });
  }

  /** True if the caller may do the action on the resource (D-117). */
  may(actor: Actor, action: string, resource: StoredResource): boolean {
    return this.#options.authorizer.can(actor.caller, action, resource.id);
  }

  /** Throws 403. Users may change some members of their own record (D-117). @param after the resulting record, if it is known already */
  requireChange(actor: Actor, before: StoredResource, verb = 'update', after = before): void {
    const isOwn = before.id === actor.caller.userId && changesOnly(before, after, typeOf(before).ownProperties);
    if (!isOwn) this.demand(actor, `${typeOf(before).singular}.${verb}`, before);
  }

  /** True if the caller may see the resource. Lists leave out other resources (D-118). */
  canView(actor: Actor, resource: StoredResource): boolean {
    return this.may(actor, `${typeOf(resource).singular}.view`, resource);
  }

  /** Creates a resource from a POST body (D-030). Throws 400, 403, 404, 409, 422 as the type decides. */
  async create(actor: Actor, parentId: Uuid, collection: TypeWord, body: Json | undefined): Promise<StoredResource> {
    const type = typeOfWord(collection);
    this.demand(actor, `${type.singular}.create`, this.get(parentId));
    const envelope = parseEnvelope(body, type);
    const typeName = typeNameIn(envelope, type);
    const written = await this.#withHashedSecrets(type, parseProperties(type, envelope.properties));

    const parent = this.get(parentId);
    // A resource that a policy keeps pending can be created again, in place of the pending one (D-127).
    const pending = this.view.named(collection, envelope.name, parent.id).find(({ state }) => state === 'Pending');
    const id = envelope.id === undefined ? (pending?.id ?? newId()) : parseUuid(envelope.id);
    if (envelope.id !== undefined && id !== pending?.id) this.#requireFreeId(actor, id);
    const input = { ...envelope, id, type: typeName, properties: written };
    const { record, derived } = this.drafts.create(actor, input, parent);
    return this.#enact(actor, 'create', this.#unlessSuppressed(record), derived);
  }

  /** Applies a JSON Patch (D-090..D-098). Throws 400, 403, 409, 422. @param renderer of records as this client sees them */
  async patch(
    actor: Actor,
    id: Uuid,
    operations: readonly Operation[],
    renderer: RecordRenderer = this.#options.renderer(),
  ): Promise<StoredResource> {
    const first = this.#changeable(actor, id, 'update');
    const patched = await this.#rewrite(actor, first, 'update', (before) => {
      const type = typeOf(before);
      const { properties, ...members } = patchedDocument(type, before, renderer, operations);
      if (properties !== before.properties) return parseEnvelope({ ...members, properties }, type);
      return { ...parseEnvelope(members, type), properties: before.properties };
    });
    this.#options.onPatched?.(patched, operations);
    return patched;
  }

  /** Replaces a record (D-052, D-099); what PUT keeps and server-set members stay. Throws 400, 403, 409; 404 when the type has no PUT. */
  async replace(actor: Actor, id: Uuid, body: Json | undefined): Promise<StoredResource> {
    return this.#rewrite(actor, this.#changeable(actor, id, 'update'), 'update', (before) => {
      const type = typeOf(before);
      const envelope = parseEnvelope(isJsonObject(body) ? { ...body, ...IGNORED_BY_PUT } : body, type);
      if (envelope.name !== before.name) {
        const message = `renaming ${type.collection} is not supported`;
        throw new PlatformError('invalid_body', message, { details: [{ pointer: '/name', message }] });
      }
      const writtenProperties = Object.entries(envelope.properties).filter(([name]) => !KEPT_BY_PUT.has(name));
      const preservedProperties = Object.entries(before.properties).filter(([name]) => KEPT_BY_PUT.has(name));
      return { ...envelope, properties: Object.fromEntries([...writtenProperties, ...preservedProperties]) };
    });
  }

  /** Sets computed properties. @param verb the right it takes and the event it is: `update`, or one of the type such as `scale` */
  async setProperties(
    actor: Actor,
    id: Uuid,
    verb: string,
    change: (before: StoredResource) => JsonObject,
  ): Promise<StoredResource> {
    return this.#rewrite(actor, this.#changeable(actor, id, verb), verb, (before) => {
      const { name } = before;
      return parseEnvelope({ name, ...optionalMembers(before), properties: change(before) }, typeOf(before));
    });
  }

  /** Stores all grants, none when undefined, and properties when `change` gives some (D-115, D-119, D-120). The caller has checked the right. */
  async setGrants(
    actor: Actor,
    id: Uuid,
    change: (before: StoredResource) => { grants: StoredResource['grants'] | undefined; properties?: JsonObject },
  ): Promise<StoredResource> {
    const { grants: _, ...before } = this.get(id);
    const { grants, properties } = change(this.get(id));
    const after = this.drafts.touched(actor, {
      ...before,
      ...(grants && { grants }),
      ...(properties && { properties }),
    });
    await this.commit(actor, 'entitlement.update', [after]);
    return after;
  }

  /** Deletes a resource with everything below it (D-128, D-129). Throws 403, or 409 with the reason. */
  async remove(actor: Actor, id: Uuid, query: DeletionQuery = UNFORCED): Promise<void> {
    const target = this.get(id);
    this.demand(actor, `${typeOf(target).singular}.delete`, target);
    const { policies } = this.#options;
    const { removed, updated } = planDeletion(this.view, target, query);
    const actions = removed.map((record) => ({ verb: 'delete', record }));
    policies.limit(actions, { removed });
    const put = updated.map((record) => this.drafts.touched(actor, record));
    const finish = actions.map((action) => policies.announce(actor, action));
    const removedIds = removed.map((record) => record.id);
    await this.commit(actor, `${typeOf(target).singular}.delete`, put, removedIds);
    for (const done of finish) done();
  }

  /** Commits records that another part of this layer has put together, e.g. a move. */
  async commit(
    actor: Actor,
    action: string,
    put: readonly StoredResource[],
    remove: readonly Uuid[] = [],
  ): Promise<void> {
    const commit = await this.#options.store.commit({ put, remove }, causeOf(actor, action));
    if (commit) actor.onCommit?.(commit.seq);
  }

  /** The current record, if the caller may change it. */
  #changeable(actor: Actor, id: Uuid, verb: string): StoredResource {
    const first = this.get(id);
    this.requireChange(actor, first, verb);
    return first;
  }

  /** @param first as it was when the right was asked for */
  async #rewrite(
    actor: Actor,
    first: StoredResource,
    verb: string,
    envelopeFor: (before: StoredResource) => Envelope,
  ): Promise<StoredResource> {
    const { id } = first;
    for (;;) {
      const before = this.get(id);
      const type = typeOf(before);
      const envelope = envelopeFor(before);
      const written =
        envelope.properties === before.properties
          ? before.properties
          : await this.#withHashedSecrets(type, parseProperties(type, envelope.properties), before);
      // Another request may have changed it while a password was hashed: then start again with the current record.
      if (this.view.find(id) !== before) continue;
      const after = { ...envelope, id, type: before.type, properties: written };
      const { record, derived } = this.drafts.update(actor, before, after);
      if (record !== before) {
        // Users may change some members of their own record; the permission was checked with the old record.
        if (id === actor.caller.userId || before !== first) this.requireChange(actor, before, verb, record);
        return this.#enact(actor, verb, record, derived, before);
      }
      this.#options.onConfirmed?.(before);
      return before;
    }
  }

  async #enact(
    actor: Actor,
    verb: string,
    record: StoredResource,
    derived: readonly DerivedRecord[],
    before?: StoredResource,
  ): Promise<StoredResource> {
    const { policies } = this.#options;
    const alongside = derived.map((companion) => ({ verb: 'create', record: this.#companion(actor, companion) }));
    const { collection } = typeOf(record);
    // By whatever route the change of the number of instances comes (D-125).
    const isScaled =
      before && collection === 'containers' && before.properties.num_instances !== record.properties.num_instances;
    const mainAction: Action = isScaled ? { verb: 'scale', also: 'update', record } : { verb, record };
    const actions = [...alongside, mainAction];
    const added = actions.filter((action) => action.verb === 'create').map((action) => action.record);
    policies.limit(actions, { added });
    const finish = actions.map((action) => policies.announce(actor, action));
    const put = actions.map((action) => action.record);
    await this.commit(actor, `${typeOf(record).singular}.${verb}`, put);
    for (const done of finish) done();
    if (collection === 'rules') policies.explain(record);
    return record;
  }

  /** Properties with what must never be stored in plain replaced by its hash. */
  async #withHashedSecrets(type: ResourceType, properties: JsonObject, before?: StoredResource): Promise<JsonObject> {
    const withHashedSecrets = { ...properties };
    for (const name of hashedProperties(type)) {
      const value = withHashedSecrets[name];
      if (typeof value === 'string' && value !== before?.properties[name]) {
        withHashedSecrets[name] = await this.#options.hashPassword(value);
      }
    }
    return withHashedSecrets;
  }

  /** Throws 409 for an id in use; except for root, also for one that belonged to an account or owns records (D-030). */
  #requireFreeId(actor: Actor, id: Uuid): void {
    const { view } = this;
    const isOwner = () => typeWords.some((collection) => view.all(collection).some(({ owner }) => owner === id));
    const isSomebodys = () => !actor.caller.isRoot && (this.#options.wasAccount(id) || isOwner());
    if (view.find(id) || isSomebodys()) {
      throw new PlatformError('id_taken', `id ${id} is already in use. Omit it to get a new one.`, {
        details: [{ pointer: '/id', message: 'is already in use' }],
      });
    }
  }

  #companion(actor: Actor, { collection, parent: parentId, ...input }: DerivedRecord): StoredResource {
    const parent = this.get(parentId);
    this.demand(actor, `${typeOfWord(collection).singular}.create`, parent);
    return this.#unlessSuppressed(this.drafts.create(actor, input, parent).record);
  }

  /** A new record, which waits when a policy says so (D-127). */
  #unlessSuppressed(record: StoredResource): StoredResource {
    return this.#options.policies.suppresses(record) ? { ...record, state: 'Pending' } : record;
  }
}

/** True if two versions of a record differ only in these properties, and in who changed it when. */
function changesOnly(before: StoredResource, after: StoredResource, names: readonly string[] = []): boolean {
  const rest = ({ modified: _, properties, ...record }: StoredResource) => ({
    ...record,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name))),
  });
  return isDeepStrictEqual(rest(before), rest(after));
}

type RecordRenderer = Pick<Renderer, 'record' | 'properties'>;

/**
 * The written form after a patch (D-090..D-095), to be checked like the body of a create (D-096). Properties are patched in stored form, or
 * as clients see them where the type says so (D-097). Throws 422.
 */
function patchedDocument(
  type: ResourceType,
  record: StoredResource,
  renderer: RecordRenderer,
  operations: readonly Operation[],
): ReturnType<typeof applyPatch> {
  let { properties } = record;
  for (const name of type.patchedAsShown ?? []) {
    const isTouched = operations.flatMap(placesOf).some((pointer) => segmentsOf(pointer)[1] === name);
    const value = isTouched ? renderer.properties(record)[name] : undefined;
    if (value !== undefined) properties = { ...properties, [name]: value };
  }
  const written = { name: record.name, ...optionalMembers(record), properties };
  return applyPatch(written, () => renderer.record(record), operations, {
    renamable: type.renamable ?? true,
    serverSet: ['parent', ...type.serverSet],
    unreadable: hiddenProperties(type),
    replaceCreates: type.replaceCreates ?? [],
    ...(type.rewrite && { rewrite: type.rewrite }),
  });
}
