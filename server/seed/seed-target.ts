import type { Operation } from 'fast-json-patch';
import type { Uuid } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';
import type { Act } from '../resources/act.ts';
import type { Core } from '../resources/core.ts';
import { noneAsUndefined } from '../security/entitlements.ts';
import { verifyPassword } from '../security/passwords.ts';
import type { Grants } from './seed-grants.ts';

/** The world that a seed is applied to; acts as the root user. What it refuses it throws as PlatformError. */
export interface SeedTarget {
  /** Always the present world. */
  readonly view: WorldView;
  /** Makes the default providers that are missing (D-067). */
  initializeProviders(): Promise<unknown>;
  create(parentId: Uuid, word: TypeWord, body: JsonObject): Promise<{ id: Uuid }>;
  patch(id: Uuid, operations: readonly Operation[]): Promise<unknown>;
  /** Replaces all grants of a resource (D-115). */
  setGrants(id: Uuid, grants: Grants): Promise<unknown>;
  /** Deletes a resource, unless something is in the way. */
  remove(id: Uuid): Promise<unknown>;
  /** Is this the password behind the hash? */
  isPassword(text: string, hash: string): Promise<boolean>;
}

/** A world as seeds are applied to it: every change goes through the resource service, as if its client had made it. */
export function seedTarget({ service, defaults }: Pick<Core, 'service' | 'defaults'>, act: Act): SeedTarget {
  return {
    view: service.view,
    initializeProviders: () => defaults.initialize(act),
    create: (parentId, word, body) => service.create(act, parentId, word, body),
    patch: (id, operations) => service.patch(act, id, operations),
    setGrants: (id, grants) => service.setGrants(act, id, () => ({ grants: noneAsUndefined(grants) })),
    remove: (id) => service.remove(act, id),
    isPassword: verifyPassword,
  };
}
