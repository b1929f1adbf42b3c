import type { Uuid } from './ids.ts';
import type { StoredResource } from './record.ts';
import type { TypeWord } from './type-words.ts';

/**
 * Read access to the present world, answered from indexes: every method costs what it returns, not the size of the world.
 * Lists are oldest first (D-186). The store implements it; types, rights, gateway and lambdas read through it.
 */
export interface WorldView {
  /** The root organization. */
  readonly root: StoredResource;
  /** Another number after each change of the world; without it nothing that was read here may be kept. */
  readonly revision?: number;
  find(id: Uuid): StoredResource | undefined;
  /** Direct children, all or those of one type word. */
  children(parentId: Uuid, word?: TypeWord): readonly StoredResource[];
  /** Everything of a type word that an organization owns, at any depth but not in sub-organizations (D-186). */
  ownedBy(orgId: Uuid, word: TypeWord): readonly StoredResource[];
  /** Everything of a type word in the whole world. */
  all(word: TypeWord): readonly StoredResource[];
  /** Resources of that exact name: under one parent, or with parentId undefined anywhere (D-184). */
  named(word: TypeWord, name: string, parentId?: Uuid): readonly StoredResource[];
  /** Records, all or those of one type word, that name this id in their properties, as their type's `references` tells: workloads of a provider, endpoints of a lambda, groups of a user ... */
  referrers(id: Uuid, word?: TypeWord): readonly StoredResource[];
}
