import { isDeepStrictEqual } from 'node:util';
import type { Authorizer } from '../../model/caller.ts';
import { PlatformError } from '../../model/errors.ts';
import { timeOf } from '../../model/iso-time.ts';
import { type Json, memberOf } from '../../model/json.ts';
import type { ReferenceTarget } from '../../model/property-facts.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import type { DerivedRecord, Draft, WriteConstraints, WriteContext } from '../../model/resource-type.ts';
import { requireRightTo } from '../../model/rules/actions.ts';
import { isNear } from '../../model/rules/hierarchy.ts';
import { newlyNamed } from '../../model/rules/references.ts';
import { requireKnownActions } from '../../model/rules/rule-actions.ts';
import type { Actor } from './actor.ts';

/** The requested record: properties in stored form, validated with the schema of the type. */
export type RecordInput = Draft & Pick<StoredResource, 'tags' | 'variables'>;

export interface Drafted {
  record: StoredResource;
  derived: readonly DerivedRecord[];
}

export interface RecordBuilderOptions {
  view: WorldView;
  authorizer: Authorizer;
  constraints: WriteConstraints;
  nowMs(): number;
  /** Is the resource being moved away, so that its name is free (D-134)? */
  isMoving(id: Uuid): boolean;
}

/** Makes records as a create or update would store them: checks names and the rules of the type. Nothing is committed. */
export class RecordBuilder {
  readonly #options: RecordBuilderOptions;

  constructor(options: RecordBuilderOptions) {
    this.#options = options;
  }

  /** A new record. Throws 409 for a duplicate name, 403 for references out of reach, and the errors of its type. */
  create(actor: Actor, input: RecordInput, parent: StoredResource): Drafted {
    this.#requireFreeName(input, parent);
    const { properties, derived = [] } = this.#validate(actor, input, parent);
    const at = timeOf(this.#options.nowMs());
    const userId = actor.caller.userId;
    const provenance = {
      owner: userId,
      created: { by: userId, at },
      modified: { action: 'create', by: userId, at },
    } as const;
    const record: StoredResource = { ...written(input), parent: parent.id, state: 'Active', ...provenance, properties };
    return { record, derived };
  }

  /** A record after a change; the very same one when nothing changes. Throws as create does. */
  update(actor: Actor, before: StoredResource, input: RecordInput): Drafted {
    const { description: _d, tags: _t, variables: _v, ...otherMembers } = before;
    const as = (properties: StoredResource['properties']): StoredResource => ({
      ...otherMembers,
      ...written(input),
      properties,
    });
    // Unchanged values are not validated again: the rules may have become stricter, or a target may have been deleted.
    if (isDeepStrictEqual(before, as(input.properties))) return { record: before, derived: [] };
    const parent = this.#options.view.find(before.parent ?? before.id) ?? before;
    if (input.name !== before.name) this.#requireFreeName(input, parent);
    // The rules of the type are about the name and the properties. A limit may have been lowered since (D-096).
    else if (input.properties === before.properties)
      return { record: this.#stamped(actor, as(before.properties)), derived: [] };
    const { properties, derived = [] } = this.#validate(actor, input, parent, before);
    const after = as(properties);
    // The rules of the type can restore the old value: then nothing has changed.
    const isSame = properties !== input.properties && isDeepStrictEqual(before, after);
    return { record: isSame ? before : this.#stamped(actor, after), derived };
  }

  /** Returns the properties to store, and further records, after all checks except for the name. */
  #validate(actor: Actor, input: RecordInput, parent: StoredResource, before?: StoredResource) {
    const { view, constraints } = this.#options;
    requireRoot(actor, input, before);
    for (const { reference, resource } of newlyNamed(view, input, before)) {
      this.requireReach(actor, reference.target, resource, { parent, pointer: reference.pointer });
    }
    const type = typeOf(input);
    if (type.collection === 'rules') requireKnownActions(input, before);
    const context: WriteContext = { ...constraints, view, parent, ...(before && { previous: before }) };
    return type.validate?.(input, context) ?? { properties: input.properties };
  }

  /** A record after a change, with time and user. Changes of permissions do not count as changes of the resource. */
  touched(actor: Actor, after: StoredResource): StoredResource {
    const { grants: _before, ...viewBefore } = this.#options.view.find(after.id) ?? after;
    const { grants: _after, ...viewAfter } = after;
    if (isDeepStrictEqual(viewBefore, viewAfter)) return after;
    return this.#stamped(actor, after);
  }

  #stamped(actor: Actor, after: StoredResource): StoredResource {
    return { ...after, modified: { action: 'update', by: actor.caller.userId, at: timeOf(this.#options.nowMs()) } };
  }

  /** Names are unique among siblings of a type, those of some types on the whole platform (D-184). */
  #requireFreeName(input: RecordInput, parent: StoredResource): void {
    const { collection, singular: noun, nameScope } = typeOf(input);
    const scope = nameScope === 'world' ? undefined : parent.id;
    const sameNamed = this.#options.view
      .named(collection, input.name, scope)
      .filter((candidate) => candidate.id !== input.id);
    if (sameNamed.every((candidate) => this.#options.isMoving(candidate.id))) return;
    const where = scope === undefined ? 'on this platform' : `in ${typeOf(parent).singular} '${parent.name}'`;
    throw new PlatformError('name_taken', `${noun} '${input.name}' already exists ${where}`);
  }

  /** Throws 403 with the missing right unless the actor may refer to a resource in a record below `parent`, or in its entitlements (D-117). */
  requireReach(
    { caller }: Actor,
    { right, free }: ReferenceTarget,
    resource: StoredResource,
    { parent, pointer }: { parent: StoredResource; pointer: string },
  ): void {
    const { view, authorizer } = this.#options;
    if (caller.isRoot) return;
    if (free === 'near' && isNear(view, resource, parent)) return;
    if (free === 'public' && resource.properties.public !== false) return;
    requireRightTo(authorizer, { caller, action: `${typeOf(resource).singular}.${right}`, resource, pointer });
  }
}

function requireRoot({ caller }: Actor, input: RecordInput, before?: StoredResource): void {
  if (caller.isRoot) return;
  for (const names of typeOf(input).rootOnly?.(input.type) ?? []) {
    const valueIn = (record: Pick<StoredResource, 'properties'> | undefined) =>
      names.reduce<Json | undefined>(memberOf, record?.properties);
    if (isDeepStrictEqual(valueIn(input), valueIn(before))) continue;
    const pointer = `/properties/${names.join('/')}`;
    const message = `only the root user may set or change ${names.join('.')} of this ${typeOf(input).singular}`;
    throw new PlatformError('forbidden', `${pointer}: ${message}`, { details: [{ pointer, message }] });
  }
}

function written(input: RecordInput) {
  const { id, type, name } = input;
  return { id, type, name, ...optionalMembers(input) };
}

/** The members besides name and properties that the writer of a record decides; absent ones are left out. */
export function optionalMembers<T, V>(record: {
  description?: string | undefined;
  tags?: T | undefined;
  variables?: V | undefined;
}) {
  const { description, tags, variables } = record;
  return { ...(description !== undefined && { description }), ...(tags && { tags }), ...(variables && { variables }) };
}
