import { isDeepStrictEqual } from 'node:util';
import type { Operation } from 'fast-json-patch';
import type { Judge } from '../model/caller.ts';
import { forbidden, PlatformError } from '../model/errors.ts';
import { parseUuid, type Uuid } from '../model/ids.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../model/json.ts';
import { applyPatch } from '../model/patch.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf, typeOfWord } from '../model/registry.ts';
import type { Companion, Draft, ResourceType, WriteContext } from '../model/resource-type.ts';
import { parseTypeName } from '../model/type-names.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';
import type { WorldStore } from '../store/world-store.ts';
import { type Act, causeOf } from './act.ts';
import { type DeletionWish, planDeletion } from './deletion.ts';
import { type Envelope, parseEnvelope, parseProperties } from './envelope.ts';
import type { Policies } from './policies.ts';

/** Properties that a PUT leaves as they are stored, and members whose value it does not look at, so absent (D-052). */
const KEPT_BY_PUT = new Set(['provider', 'external_id']);
const IGNORED_BY_PUT = { id: null, resource_type: null };

/** All grants of a resource as they shall be, none when undefined; and its properties where they follow. */
export interface GrantChange {
  grants: StoredResource['grants'] | undefined;
  properties?: JsonObject;
}

export interface ResourceServiceOptions {
  store: WorldStore;
  judge: Judge;
  policies: Policies;
  /** One-way hash of a user's password. */
  hashPassword(password: string): Promise<string>;
  limits: WriteContext['limits'];
  allowedHostPaths: readonly string[];
  nowMs(): number;
  newId(): Uuid;
  /** Is the resource being moved away, so that its name is free (D-134)? */
  isMoving(id: Uuid): boolean;
  /** The record as a client sees it, for read-only members in a patch (D-093). */
  shown(resource: StoredResource): JsonObject;
}

/**
 * Creates, changes and removes resources: checks the right, the schema, the type's rules and the policies, then commits.
 * Everything between the last read and the commit is synchronous, so no two requests can interleave there.
 */
export class ResourceService {
  readonly #options: ResourceServiceOptions;

  constructor(options: ResourceServiceOptions) {
    this.#options = options;
  }

  get view(): WorldView {
    return this.#options.store.view;
  }

  /** Throws 403 unless the caller may do the action on the resource (D-117, D-118). */
  demand(act: Act, action: string, resource: StoredResource): void {
    if (!this.may(act, action, resource)) throw forbidden(action);
  }

  /** May the caller do the action on the resource (D-117)? */
  may(act: Act, action: string, resource: StoredResource): boolean {
    return this.#options.judge.may(act.caller, action, resource.id);
  }

  /** Throws 403 without the right to view. */
  demandView(act: Act, resource: StoredResource): void {
    this.demand(act, `${typeOf(resource).noun}.view`, resource);
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
    const typeName = typeNameFor(type, envelope);
    const written = await this.#sealed(type, parseProperties(type, envelope.properties));

    const parent = this.#present(parentId);
    // What a policy keeps waiting may be created again, in its place (D-127).
    const pending = this.view.named(word, envelope.name, parent.id).find(({ state }) => state === 'Pending');
    const id = envelope.id === undefined ? (pending?.id ?? this.#options.newId()) : parseUuid(envelope.id);
    if (id !== pending?.id && this.view.find(id)) throw new PlatformError(409, `id ${id} is taken`);
    this.#demandFreeName(type, parent, envelope.name, id);
    const draft: Draft = { id, type: typeName, ...pick(envelope), properties: written };
    const admitted = type.admit?.(draft, this.#writeContext(parent)) ?? { properties: written };
    const record = this.#newRecord(act, { ...draft, properties: admitted.properties }, parent.id, envelope);
    const companions = this.#companionsOf(act, admitted.companions);
    return this.#enact(act, 'create', this.#unlessSuppressed(record), companions);
  }

  /**
   * Applies a JSON Patch to a record (D-090..D-098); what changes nothing leaves it as it is.
   *
   * @param shown the record as this client sees it
   * @throws PlatformError 400, 403, 409, 422
   */
  async patch(
    act: Act,
    id: Uuid,
    operations: readonly Operation[],
    shown: (resource: StoredResource) => JsonObject = this.#options.shown,
  ): Promise<StoredResource> {
    return this.#rewrite(act, id, 'update', (before) => {
      const type = typeOf(before);
      const seen = shown(before);
      const document = applyPatch(patchedForm(before, seen), seen, operations, {
        renamable: type.renamable ?? true,
        serverSet: ['parent', ...type.serverSet],
        unreadable: [...(type.hidden ?? []), ...(type.unreadable ?? [])],
        replaceCreates: type.replaceCreates ?? [],
        ...(type.rewrite && { rewrite: type.rewrite }),
      });
      return parseEnvelope(document, type);
    });
  }

  /**
   * Replaces a whole record (D-052, D-099): what PUT keeps and server-set members stay, omitted optionals fall back.
   * @throws PlatformError 400, 403, 409; 404 when the type has no PUT
   */
  async replace(act: Act, id: Uuid, body: Json | undefined): Promise<StoredResource> {
    return this.#rewrite(act, id, 'update', (before) => {
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
    return this.#rewrite(act, id, verb, (before) => {
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
    const after = this.touched(act, { ...before, ...(grants && { grants }), ...(properties && { properties }) });
    await this.#options.store.commit({ put: [after] }, causeOf(act, 'entitlement.update'));
    return after;
  }

  /** Removes a resource and what goes with it (D-128, D-129). Throws 403, or 409 with what is in the way. */
  async remove(act: Act, id: Uuid, wish: DeletionWish): Promise<void> {
    const target = this.#present(id);
    const action = `${typeOf(target).noun}.delete`;
    this.demand(act, action, target);
    const { removed, updated } = planDeletion(this.view, target, wish);
    const { policies, store } = this.#options;
    policies.limit({ verb: 'delete', record: target }, { removed });
    const finish = removed.map((record) => policies.announce(act, { verb: 'delete', record }));
    const put = updated.map((one) => this.touched(act, one));
    await store.commit({ put, remove: removed.map((one) => one.id) }, causeOf(act, action));
    for (const done of finish) done();
  }

  /** Commits records that another part of this room has put together, e.g. a move. */
  async commit(act: Act, action: string, put: readonly StoredResource[], remove: readonly Uuid[] = []): Promise<void> {
    await this.#options.store.commit({ put, remove }, causeOf(act, action));
  }

  /** A record as a create would store it, but not committed yet; throws what a create would. */
  draftCreate(act: Act, draft: Draft, parentId: Uuid, envelope: Pick<Envelope, 'tags' | 'variables'>): StoredResource {
    const parent = this.#present(parentId);
    this.#demandFreeName(typeOf(draft), parent, draft.name, draft.id);
    const admitted = typeOf(draft).admit?.(draft, this.#writeContext(parent)) ?? draft;
    return this.#newRecord(act, { ...draft, properties: admitted.properties }, parentId, envelope);
  }

  /** A record as an update would store it, but not committed yet; throws what an update would. */
  draftUpdate(act: Act, before: StoredResource, properties: JsonObject): StoredResource {
    const context = { ...this.#writeContext(this.#present(before.parent ?? before.id)), previous: before };
    const admitted = typeOf(before).admit?.({ ...before, properties }, context) ?? { properties };
    return this.touched(act, { ...before, properties: admitted.properties });
  }

  /** A record after a change, with who made it and when. Rights given or taken are no change of the resource itself. */
  touched(act: Act, after: StoredResource): StoredResource {
    const { grants: _before, ...shownBefore } = this.#present(after.id);
    const { grants: _after, ...shownAfter } = after;
    if (isDeepStrictEqual(shownBefore, shownAfter)) return after;
    const at = new Date(this.#options.nowMs()).toISOString();
    return { ...after, modified: { action: 'update', by: act.caller.userId, at } };
  }

  async #rewrite(
    act: Act,
    id: Uuid,
    verb: string,
    wish: (before: StoredResource) => Envelope,
  ): Promise<StoredResource> {
    this.demand(act, `${typeOf(this.#present(id)).noun}.${verb}`, this.#present(id));
    for (;;) {
      const before = this.#present(id);
      const type = typeOf(before);
      const envelope = wish(before);
      const written = await this.#sealed(type, parseProperties(type, envelope.properties), before);
      // Someone else may have changed it while a password was hashed: then start from what is there now.
      if (this.view.find(id) === before) return this.#admitRewrite(act, verb, before, envelope, written);
    }
  }

  #admitRewrite(
    act: Act,
    verb: string,
    before: StoredResource,
    envelope: Envelope,
    written: JsonObject,
  ): Promise<StoredResource> {
    const type = typeOf(before);
    const { description: _d, tags: _t, variables: _v, ...kept } = before;
    const withProperties = (properties: JsonObject): StoredResource => ({
      ...kept,
      ...pick(envelope),
      ...extras(envelope),
      properties,
    });
    // What stays as it is need not pass the type's rules again: they may have become stricter, or a target may be gone.
    if (isDeepStrictEqual(before, withProperties(written))) return Promise.resolve(before);
    const parent = this.#present(before.parent ?? before.id);
    if (envelope.name !== before.name) this.#demandFreeName(type, parent, envelope.name, before.id);
    const draft: Draft = { id: before.id, type: before.type, ...pick(envelope), properties: written };
    const context = { ...this.#writeContext(parent), previous: before };
    const admitted = type.admit?.(draft, context) ?? { properties: written };
    const after = withProperties(admitted.properties);
    if (isDeepStrictEqual(before, after)) return Promise.resolve(before);
    const companions = this.#companionsOf(act, admitted.companions);
    return this.#enact(act, verb, this.touched(act, after), companions);
  }

  async #enact(
    act: Act,
    verb: string,
    record: StoredResource,
    companions: readonly StoredResource[],
  ): Promise<StoredResource> {
    const { policies, store } = this.#options;
    const actions = [...companions.map((one) => ({ verb: 'create', record: one })), { verb, record }];
    const added = actions.filter((one) => one.verb === 'create').map((one) => one.record);
    for (const action of actions) policies.limit(action, { added });
    const finish = actions.map((action) => policies.announce(act, action));
    const put = actions.map((one) => one.record);
    await store.commit({ put }, causeOf(act, `${typeOf(record).noun}.${verb}`));
    for (const done of finish) done();
    return record;
  }

  /** Properties with what must never be stored in plain replaced by its hash. */
  async #sealed(type: ResourceType, properties: JsonObject, before?: StoredResource): Promise<JsonObject> {
    const sealed = { ...properties };
    for (const name of type.hashed ?? []) {
      const value = sealed[name];
      if (typeof value === 'string' && value !== before?.properties[name]) {
        sealed[name] = await this.#options.hashPassword(value);
      }
    }
    return sealed;
  }

  #demandFreeName(type: ResourceType, parent: StoredResource, name: string, id: Uuid): void {
    const scope = type.nameScope === 'world' ? undefined : parent.id;
    const taken = this.view
      .named(type.word, name, scope)
      .some((one) => one.id !== id && !this.#options.isMoving(one.id));
    if (!taken) return;
    const where = scope === undefined ? 'anywhere on the platform' : `in ${typeOf(parent).noun} '${parent.name}'`;
    throw new PlatformError(409, `${type.noun} '${name}' already exists ${where}`);
  }

  #present(id: Uuid): StoredResource {
    const resource = this.view.find(id);
    if (!resource) throw new PlatformError(404, `resource ${id} not found`);
    return resource;
  }

  #writeContext(parent: StoredResource): WriteContext {
    const { limits, allowedHostPaths, newId } = this.#options;
    return { view: this.view, parent, limits, allowedHostPaths, newId };
  }

  #newRecord(act: Act, draft: Draft, parent: Uuid, envelope: Pick<Envelope, 'tags' | 'variables'>): StoredResource {
    const at = new Date(this.#options.nowMs()).toISOString();
    const by = act.caller.userId;
    const { id, type, name, description, properties } = draft;
    return {
      id,
      type,
      name,
      ...(description !== undefined && { description }),
      parent,
      state: 'Active',
      owner: by,
      created: { by, at },
      modified: { action: 'create', by, at },
      properties,
      ...extras(envelope),
    };
  }

  #companionsOf(act: Act, companions: readonly Companion[] = []): StoredResource[] {
    return companions.map(({ word, parent, ...draft }) => {
      this.demand(act, `${typeOfWord(word).noun}.create`, this.#present(parent));
      return this.#unlessSuppressed(this.draftCreate(act, draft, parent, {}));
    });
  }

  /** A new record, which waits when a policy says so (D-127). */
  #unlessSuppressed(record: StoredResource): StoredResource {
    return this.#options.policies.suppresses(record) ? { ...record, state: 'Pending' } : record;
  }
}

/** The record as its writer left it. */
function writtenForm({
  name,
  description,
  tags,
  variables,
  properties,
}: StoredResource): JsonObject & { properties: JsonObject } {
  return {
    name,
    ...(description !== undefined && { description }),
    ...(tags && { tags }),
    ...(variables && { variables }),
    properties,
  };
}

/** The document that a patch works on: the written form but for what a type lets be patched as it is shown (D-090, D-097). */
function patchedForm(record: StoredResource, shown: JsonObject): ReturnType<typeof writtenForm> {
  const written = writtenForm(record);
  const asShown = (typeOf(record).patchedAsShown ?? []).flatMap((name) => {
    const value = memberOf(shown.properties, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...written, properties: { ...written.properties, ...Object.fromEntries(asShown) } };
}

function pick({ name, description }: Envelope): { name: string; description?: string } {
  return { name, ...(description !== undefined && { description }) };
}

function extras({ tags, variables }: Pick<Envelope, 'tags' | 'variables'>): {
  tags?: string[];
  variables?: Record<string, string>;
} {
  return { ...(tags && { tags }), ...(variables && { variables }) };
}

/** The full type name a record gets; what the body says must agree with the route (D-032, D-064, D-077). */
function typeNameFor(type: ResourceType, { resource_type: given }: Envelope): string {
  const subTypes = Object.keys(type.subTypes ?? {});
  if (given === undefined && subTypes.length === 0) return type.name;
  const allowed = subTypes.length === 0 ? [type.name] : subTypes;
  const name = given === undefined ? undefined : parseTypeName(given);
  if (name !== undefined && allowed.includes(name)) return name;
  const problem = given === undefined ? 'is required' : `'${given.slice(0, 64)}' does not name a ${type.noun}`;
  const choice = allowed.map((one) => `<prefix>::${one}`).join(', ');
  throw new PlatformError(type.word === 'rules' ? 422 : 400, `/resource_type ${problem}; it can be ${choice}`, {
    details: [{ pointer: '/resource_type', message: `${problem}; it can be ${choice}` }],
  });
}
