import { isDeepStrictEqual } from 'node:util';
import type { Operation } from 'fast-json-patch';
import { causeOf } from '../model/cause.ts';
import { type Envelope, parseEnvelope, parseProperties, typeNameIn } from '../model/envelope.ts';
import { PlatformError } from '../model/errors.ts';
import { newId, parseUuid, type Uuid } from '../model/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf, typeOfWord, typeWords } from '../model/registry.ts';
import type { Companion, ResourceType } from '../model/resource-type.ts';
import { demandRight } from '../model/rights.ts';
import { hashedProperties } from '../model/secrets.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';
import type { WorldStore } from '../store/world-store.ts';
import type { Act } from './act.ts';
import { type DeletionQuery, planDeletion } from './deletion.ts';
import { Drafts, type DraftsOptions } from './drafts.ts';
import type { Action, Policies } from './policies.ts';
import { patchedDocument, type RecordRenderer, writtenForm } from './written-form.ts';

/** Properties that a PUT leaves as they are stored, and members whose value it does not look at, so absent (D-052). */
const KEPT_BY_PUT = new Set(['provider', 'external_id']);
const IGNORED_BY_PUT = { id: null, resource_type: null };

const UNFORCED: DeletionQuery = { force: false, deleteContainers: false };

/** All grants of a resource as they shall be, none when undefined; and its properties where they follow. */
export interface GrantChange {
  grants: StoredResource['grants'] | undefined;
  properties?: JsonObject;
}

export interface ResourceServiceOptions extends Omit<DraftsOptions, 'view'> {
  store: Pick<WorldStore, 'view' | 'commit'>;
  policies: Policies;
  /** One-way hash of a user's password. */
  hashPassword(password: string): Promise<string>;
  /** Was an id ever an account's (D-030)? */
  wasAccount(id: Uuid): boolean;
  /** Of records as clients see them, for read-only members in a patch (D-093). */
  renderer(): RecordRenderer;
  /** Told of a record that a PUT or PATCH left as it was: nothing is committed then. */
  onConfirmed?(resource: StoredResource): void;
  /** Told of a record that was patched, changed by that or not, and how. */
  onPatched?(resource: StoredResource, operations: readonly Operation[]): void;
}

/**
 * Creates, changes and removes resources: checks the right, the schema, the type's rules and the policies, then commits.
 * Everything between the last read and the commit is synchronous, so no two requests can interleave there.
 */
export class ResourceService {
  readonly drafts: Drafts;
  readonly #options: ResourceServiceOptions;

  constructor(options: ResourceServiceOptions) {
    this.#options = options;
    this.drafts = new Drafts({ ...options, view: options.store.view });
  }

  get view(): WorldView {
    return this.#options.store.view;
  }

  /** Throws 403 unless the caller may do the action on the resource (D-117, D-118). */
  demand(act: Act, action: string, resource: StoredResource): void {
    demandRight(this.#options.judge, { caller: act.caller, action, resource });
  }

  /** May the caller do the action on the resource (D-117)? */
  may(act: Act, action: string, resource: StoredResource): boolean {
    return this.#options.judge.may(act.caller, action, resource.id);
  }

  /**
   * Throws 403 unless the caller may change a resource: everybody may change some of what stands in his own user's record (D-117).
   *
   * @param after what would become of it, if that is known already
   */
  demandChange(act: Act, before: StoredResource, verb = 'update', after = before): void {
    const isOwn = before.id === act.caller.userId && changesOnly(before, after, typeOf(before).ownProperties);
    if (!isOwn) this.demand(act, `${typeOf(before).noun}.${verb}`, before);
  }

  /** May the caller see it? Lists leave out what they may not (D-118). */
  canView(act: Act, resource: StoredResource): boolean {
    return this.may(act, `${typeOf(resource).noun}.view`, resource);
  }

  /**
   * Creates a resource under a parent from a POST body (D-030).
   * @throws PlatformError 400, 403, 404, 409, 422 as the type decides
   */
  async create(act: Act, parentId: Uuid, word: TypeWord, body: Json | undefined): Promise<StoredResource> {
    const type = typeOfWord(word);
    this.demand(act, `${type.noun}.create`, this.#present(parentId));
    const envelope = parseEnvelope(body, type);
    const typeName = typeNameIn(envelope, type);
    const written = await this.#sealed(type, parseProperties(type, envelope.properties));

    const parent = this.#present(parentId);
    // What a policy keeps waiting may be created again, in its place (D-127).
    const pending = this.view.named(word, envelope.name, parent.id).find(({ state }) => state === 'Pending');
    const id = envelope.id === undefined ? (pending?.id ?? newId()) : parseUuid(envelope.id);
    if (envelope.id !== undefined && id !== pending?.id) this.#demandFreeId(act, id);
    const asked = { ...envelope, id, type: typeName, properties: written };
    const { record, companions } = this.drafts.create(act, asked, parent);
    return this.#enact(act, 'create', this.#unlessSuppressed(record), companions);
  }

  /**
   * Applies a JSON Patch to a record (D-090..D-098); what changes nothing leaves it as it is.
   *
   * @param renderer of records as this client sees them
   * @throws PlatformError 400, 403, 409, 422
   */
  async patch(
    act: Act,
    id: Uuid,
    operations: readonly Operation[],
    renderer: RecordRenderer = this.#options.renderer(),
  ): Promise<StoredResource> {
    const first = this.#changeable(act, id, 'update');
    const patched = await this.#rewrite(act, first, 'update', (before) =>
      parseEnvelope(patchedDocument(before, renderer, operations), typeOf(before)),
    );
    this.#options.onPatched?.(patched, operations);
    return patched;
  }

  /**
   * Replaces a whole record (D-052, D-099): what PUT keeps and server-set members stay, omitted optionals fall back.
   * @throws PlatformError 400, 403, 409; 404 when the type has no PUT
   */
  async replace(act: Act, id: Uuid, body: Json | undefined): Promise<StoredResource> {
    return this.#rewrite(act, this.#changeable(act, id, 'update'), 'update', (before) => {
      const type = typeOf(before);
      const envelope = parseEnvelope(isJsonObject(body) ? { ...body, ...IGNORED_BY_PUT } : body, type);
      if (envelope.name !== before.name) {
        const message = `renaming ${type.word} is not supported`;
        throw new PlatformError(400, message, { details: [{ pointer: '/name', message }] });
      }
      const sent = Object.entries(envelope.properties).filter(([name]) => !KEPT_BY_PUT.has(name));
      const kept = Object.entries(before.properties).filter(([name]) => KEPT_BY_PUT.has(name));
      return { ...envelope, properties: Object.fromEntries([...sent, ...kept]) };
    });
  }

  /**
   * Sets properties that a route has worked out, such as a group's members, with the checks of a patch.
   *
   * @param verb the right it takes and the event it is: `update`, or one of the type's own such as `scale`
   */
  async setProperties(
    act: Act,
    id: Uuid,
    verb: string,
    change: (before: StoredResource) => JsonObject,
  ): Promise<StoredResource> {
    return this.#rewrite(act, this.#changeable(act, id, verb), verb, (before) => {
      return parseEnvelope({ ...writtenForm(before), properties: change(before) }, typeOf(before));
    });
  }

  /**
   * Stores what `change` makes of a resource's grants, and of its properties when it gives some (D-115, D-119, D-120).
   * The caller has checked the right.
   */
  async setGrants(act: Act, id: Uuid, change: (before: StoredResource) => GrantChange): Promise<StoredResource> {
    const { grants: _, ...before } = this.#present(id);
    const { grants, properties } = change(this.#present(id));
    const after = this.drafts.touched(act, { ...before, ...(grants && { grants }), ...(properties && { properties }) });
    await this.#options.store.commit({ put: [after] }, causeOf(act, 'entitlement.update'));
    return after;
  }

  /** Removes a resource and what goes with it (D-128, D-129). Throws 403, or 409 with what is in the way. */
  async remove(act: Act, id: Uuid, asked: DeletionQuery = UNFORCED): Promise<void> {
    const target = this.#present(id);
    const action = `${typeOf(target).noun}.delete`;
    this.demand(act, action, target);
    const { removed, updated } = planDeletion(this.view, target, asked);
    const { policies, store } = this.#options;
    policies.limit({ verb: 'delete', record: target }, { removed });
    const finish = removed.map((record) => policies.announce(act, { verb: 'delete', record }));
    const put = updated.map((one) => this.drafts.touched(act, one));
    await store.commit({ put, remove: removed.map((one) => one.id) }, causeOf(act, action));
    for (const done of finish) done();
  }

  /** Commits records that another part of this room has put together, e.g. a move. */
  async commit(act: Act, action: string, put: readonly StoredResource[], remove: readonly Uuid[] = []): Promise<void> {
    await this.#options.store.commit({ put, remove }, causeOf(act, action));
  }

  /** What the caller may change as it is now. */
  #changeable(act: Act, id: Uuid, verb: string): StoredResource {
    const first = this.#present(id);
    this.demandChange(act, first, verb);
    return first;
  }

  /** @param first as it was when the right was asked for */
  async #rewrite(
    act: Act,
    first: StoredResource,
    verb: string,
    asked: (before: StoredResource) => Envelope,
  ): Promise<StoredResource> {
    const { id } = first;
    for (;;) {
      const before = this.#present(id);
      const type = typeOf(before);
      const envelope = asked(before);
      const written = await this.#sealed(type, parseProperties(type, envelope.properties), before);
      // Someone else may have changed it while a password was hashed: then start from what is there now.
      if (this.view.find(id) !== before) continue;
      const after = { ...envelope, id, type: before.type, properties: written };
      const { record, companions } = this.drafts.update(act, before, after);
      if (record !== before) {
        // Everybody may change some of his own record; and what he may was asked of what was there then.
        if (id === act.caller.userId || before !== first) this.demandChange(act, before, verb, record);
        return this.#enact(act, verb, record, companions, before);
      }
      this.#options.onConfirmed?.(before);
      return before;
    }
  }

  async #enact(
    act: Act,
    verb: string,
    record: StoredResource,
    companions: readonly Companion[],
    before?: StoredResource,
  ): Promise<StoredResource> {
    const { policies, store } = this.#options;
    const alongside = companions.map((one) => ({ verb: 'create', record: this.#companion(act, one) }));
    const isScaled = before !== undefined && isScaling(before, record);
    const own: Action = isScaled ? { verb: 'scale', also: 'update', record } : { verb, record };
    const actions = [...alongside, own];
    const added = actions.filter((one) => one.verb === 'create').map((one) => one.record);
    for (const action of actions) policies.limit(action, { added });
    const finish = actions.map((action) => policies.announce(act, action));
    const put = actions.map((one) => one.record);
    await store.commit({ put }, causeOf(act, `${typeOf(record).noun}.${verb}`));
    for (const done of finish) done();
    if (typeOf(record).word === 'rules') policies.explain(record);
    return record;
  }

  /** Properties with what must never be stored in plain replaced by its hash. */
  async #sealed(type: ResourceType, properties: JsonObject, before?: StoredResource): Promise<JsonObject> {
    const sealed = { ...properties };
    for (const name of hashedProperties(type)) {
      const value = sealed[name];
      if (typeof value === 'string' && value !== before?.properties[name]) {
        sealed[name] = await this.#options.hashPassword(value);
      }
    }
    return sealed;
  }

  /**
   * Throws 409 for an id that cannot be chosen: that of a resource; and for everybody but root one that would make of its bearer
   * somebody else, because it was an account's or records are owned by it (D-030).
   */
  #demandFreeId(act: Act, id: Uuid): void {
    const { view } = this;
    const isOwner = () => typeWords.some((word) => view.all(word).some(({ owner }) => owner === id));
    const isSomebodys = () => !act.caller.isRoot && (this.#options.wasAccount(id) || isOwner());
    if (view.find(id) || isSomebodys()) {
      throw new PlatformError(409, `id ${id} is taken; leave it out to get a fresh one`, {
        details: [{ pointer: '/id', message: 'is taken' }],
      });
    }
  }

  #present(id: Uuid): StoredResource {
    const resource = this.view.find(id);
    if (!resource) throw new PlatformError(404, `resource ${id} not found`);
    return resource;
  }

  #companion(act: Act, { word, parent: parentId, ...asked }: Companion): StoredResource {
    const parent = this.#present(parentId);
    this.demand(act, `${typeOfWord(word).noun}.create`, parent);
    return this.#unlessSuppressed(this.drafts.create(act, asked, parent).record);
  }

  /** A new record, which waits when a policy says so (D-127). */
  #unlessSuppressed(record: StoredResource): StoredResource {
    return this.#options.policies.suppresses(record) ? { ...record, state: 'Pending' } : record;
  }
}

/** Does a change of a container start or stop instances, by whatever route it comes (D-125)? */
function isScaling(before: StoredResource, after: StoredResource): boolean {
  return typeOf(after).word === 'containers' && before.properties.num_instances !== after.properties.num_instances;
}

/** Do two versions of a record differ in nothing but these properties, and in who changed it when? */
function changesOnly(before: StoredResource, after: StoredResource, names: readonly string[] = []): boolean {
  const rest = ({ modified: _, properties, ...record }: StoredResource) => ({
    ...record,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name))),
  });
  return isDeepStrictEqual(rest(before), rest(after));
}
