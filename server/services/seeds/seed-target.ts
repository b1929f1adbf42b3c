import type { Operation } from 'fast-json-patch';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import type { Uuid, WorldView } from '../../model/record.ts';
import type { TypeWord } from '../../model/type-words.ts';
import type { Actor } from '../resources/actor.ts';
import type { ControlPlane } from '../resources/control-plane.ts';
import { noneAsUndefined } from '../security/entitlements.ts';
import { verifyPassword } from '../security/passwords.ts';
import type { RandomPasswords } from '../security/random-passwords.ts';
import type { Grants } from './seed-grants.ts';

/** The world that a seed is applied to; acts as the root user. What it refuses it throws as PlatformError. */
export interface SeedTarget {
  readonly view: WorldView;
  /** Makes the default providers that are missing (D-067). */
  initializeProviders(): Promise<unknown>;
  create(parentId: Uuid, collection: TypeWord, body: JsonObject): Promise<{ id: Uuid }>;
  patch(id: Uuid, operations: readonly Operation[]): Promise<unknown>;
  /** Replaces all grants of a resource (D-115). */
  setGrants(id: Uuid, grants: Grants): Promise<unknown>;
  /** Deletes a resource, unless something is in the way. */
  remove(id: Uuid): Promise<unknown>;
  isPassword(text: string, hash: string): Promise<boolean>;
}

/**
 * A world as seeds are applied to it: every change goes through the resource service, as if its client had made it. A user without a
 * password gets a random one (D-220).
 */
export function seedTarget(
  { service, defaults }: Pick<ControlPlane, 'service' | 'defaults'>,
  actor: Actor,
  passwords: RandomPasswords,
): SeedTarget {
  return {
    view: service.view,
    initializeProviders: () => defaults.initialize(actor),
    async create(parentId, collection, body) {
      const { name, properties } = body;
      if (
        collection !== 'users' ||
        typeof name !== 'string' ||
        (isJsonObject(properties) && properties.password !== undefined)
      )
        return service.create(actor, parentId, collection, body);
      const password = await passwords.draw(name);
      return service.create(actor, parentId, collection, {
        ...body,
        properties: { ...(isJsonObject(properties) && properties), password },
      });
    },
    patch: (id, operations) => service.patch(actor, id, operations),
    setGrants: (id, grants) => service.setGrants(actor, id, () => ({ grants: noneAsUndefined(grants) })),
    remove: (id) => service.remove(actor, id),
    isPassword: verifyPassword,
  };
}
