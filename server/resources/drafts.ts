import { isDeepStrictEqual } from 'node:util';
import type { Judge } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import { type Json, memberOf } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import type { Companion, Draft, WriteContext, WriteLaws } from '../model/resource-type.ts';
import { demandKnownActions } from '../model/rule-actions.ts';
import type { WorldView } from '../model/world-view.ts';
import type { Act } from './act.ts';
import { demandReach, type Naming } from './reach.ts';

/** What a record shall be, as its writer wants it: properties in written form, checked by the type's schema. */
export type Asked = Draft & Pick<StoredResource, 'tags' | 'variables'>;

/** A record as it would be stored, and what is to be created along with it. */
export interface Drafted {
  record: StoredResource;
  companions: readonly Companion[];
}

export interface DraftsOptions {
  view: WorldView;
  judge: Judge;
  laws: WriteLaws;
  nowMs(): number;
  /** Is the resource being moved away, so that its name is free (D-134)? */
  isMoving(id: Uuid): boolean;
}

/**
 * Makes records as a create or an update would store them: checks names and the rules of the type, fills in who and when.
 * Nothing is committed.
 */
export class Drafts {
  readonly #options: DraftsOptions;

  constructor(options: DraftsOptions) {
    this.#options = options;
  }

  /** A new record. Throws 409 for a taken name, 403 for what it names out of reach, and what its type throws. */
  create(act: Act, asked: Asked, parent: StoredResource): Drafted {
    this.#demandFreeName(asked, parent);
    demandRoot(act, asked);
    demandReach(this.naming(act, parent), asked);
    if (typeOf(asked).word === 'rules') demandKnownActions(asked);
    const { properties, companions = [] } = typeOf(asked).admit?.(asked, this.#contextBelow(parent)) ?? passed(asked);
    const at = this.#now();
    const by = act.caller.userId;
    const provenance = { owner: by, created: { by, at }, modified: { action: 'create', by, at } } as const;
    const record: StoredResource = { ...written(asked), parent: parent.id, state: 'Active', ...provenance, properties };
    return { record, companions };
  }

  /** A record after a change; the very same one when nothing changes. Throws as create does. */
  update(act: Act, before: StoredResource, asked: Asked): Drafted {
    const { description: _d, tags: _t, variables: _v, ...kept } = before;
    const as = (properties: StoredResource['properties']): StoredResource => ({
      ...kept,
      ...written(asked),
      properties,
    });
    // What stays as it is need not pass the type's rules again: they may have become stricter, or a target may be gone.
    if (isDeepStrictEqual(before, as(asked.properties))) return { record: before, companions: [] };
    const parent = this.#options.view.find(before.parent ?? before.id) ?? before;
    if (asked.name !== before.name) this.#demandFreeName(asked, parent);
    demandRoot(act, asked, before);
    demandReach(this.naming(act, parent), asked, before);
    if (typeOf(asked).word === 'rules') demandKnownActions(asked, before);
    const context = { ...this.#contextBelow(parent), previous: before };
    const { properties, companions = [] } = typeOf(before).admit?.(asked, context) ?? passed(asked);
    const after = as(properties);
    // Only the type's rules can have made it again what it was.
    const isSame = properties !== asked.properties && isDeepStrictEqual(before, after);
    return { record: isSame ? before : this.#stamped(act, after), companions };
  }

  /** A record after a change, with who made it and when. Rights given or taken are no change of the resource itself. */
  touched(act: Act, after: StoredResource): StoredResource {
    const { grants: _before, ...shownBefore } = this.#options.view.find(after.id) ?? after;
    const { grants: _after, ...shownAfter } = after;
    if (isDeepStrictEqual(shownBefore, shownAfter)) return after;
    return this.#stamped(act, after);
  }

  #stamped(act: Act, after: StoredResource): StoredResource {
    return { ...after, modified: { action: 'update', by: act.caller.userId, at: this.#now() } };
  }

  /** Names are unique among siblings of a type, those of some types on the whole platform (D-184). */
  #demandFreeName(asked: Asked, parent: StoredResource): void {
    const { word, noun, nameScope } = typeOf(asked);
    const scope = nameScope === 'world' ? undefined : parent.id;
    const others = this.#options.view.named(word, asked.name, scope).filter((one) => one.id !== asked.id);
    if (others.every((one) => this.#options.isMoving(one.id))) return;
    const where = scope === undefined ? 'anywhere on the platform' : `in ${typeOf(parent).noun} '${parent.name}'`;
    throw new PlatformError(409, `${noun} '${asked.name}' already exists ${where}`);
  }

  /** Who names something in a record below a resource, or in the rights of that. */
  naming(act: Act, parent: StoredResource): Naming {
    const { view, judge } = this.#options;
    return { view, judge, caller: act.caller, parent };
  }

  #contextBelow(parent: StoredResource): WriteContext {
    const { view, laws } = this.#options;
    return { ...laws, view, parent };
  }

  #now(): string {
    return new Date(this.#options.nowMs()).toISOString();
  }
}

/** Throws 403 for a property that only root may set or change. */
function demandRoot({ caller }: Act, asked: Asked, before?: StoredResource): void {
  if (caller.isRoot) return;
  for (const names of typeOf(asked).rootOnly?.(asked.type) ?? []) {
    const valueIn = (record: Pick<StoredResource, 'properties'> | undefined) =>
      names.reduce<Json | undefined>(memberOf, record?.properties);
    if (isDeepStrictEqual(valueIn(asked), valueIn(before))) continue;
    const pointer = `/properties/${names.join('/')}`;
    const message = `only the root user may set or change ${names.join('.')} of this ${typeOf(asked).noun}`;
    throw new PlatformError(403, `${pointer}: ${message}`, { details: [{ pointer, message }] });
  }
}

/** For a type without rules of its own. */
function passed({ properties }: Asked): { properties: StoredResource['properties']; companions?: Companion[] } {
  return { properties };
}

/** The members of a record that its writer decides, but for its properties; absent ones are left out. */
function written({ id, type, name, description, tags, variables }: Asked) {
  return {
    id,
    type,
    name,
    ...(description !== undefined && { description }),
    ...(tags && { tags }),
    ...(variables && { variables }),
  };
}
