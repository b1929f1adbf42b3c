import { z } from 'zod';
import type { TypeWord } from './type-words.ts';

/** What may be named at a place, and what it takes to name it (D-117). */
export interface ReferenceTarget {
  word: TypeWord;
  /** Verb of the right that whoever newly names it needs on it. */
  right: 'view' | 'invoke';
  /**
   * What takes no right: `near`, what belongs to the record's organization or to one above it; `public`, a lambda that
   * anybody may call.
   */
  free?: 'near' | 'public';
  /** Which of its sub-types serve here, as `?type=` of their list has it (D-065). The rule itself is the type's to check. */
  kind?: string;
}

/**
 * What becomes of a record when what it names is deleted: it `keeps` naming it, or `forgets` it; or it is in the way of an
 * unforced deletion, and when forced it is `unmounted` from it, or `follows` it (D-128..D-130, D-072, D-079).
 */
export type WhenGone = 'keeps' | 'forgets' | 'unmounted' | 'follows';

/** A property that names another resource by its id. */
export interface ReferenceFact {
  /** One type, or the one that another property of the record decides, by its value. */
  to: ReferenceTarget | { decidedBy: string; targets: Readonly<Record<string, ReferenceTarget>> };
  whenGone: WhenGone;
  /** Status of a write that names nothing there; absent: whatever stands there is stored. */
  missing?: 400 | 404 | 422;
  /** The platform does nothing with it: only documents name it by name. */
  isStoredOnly?: true;
}

/** Which properties name other resources. The one place where that is said; everything else follows from it. */
export const referenceFacts = z.registry<ReferenceFact>();

/** Properties that may have other names, too: a regular expression for all of them (D-083). */
export const spellings = z.registry<{ pattern: string }>();

/** The id of another resource: a UUID in any letter case, kept in lower case (D-014). */
export function idOf(fact: ReferenceFact) {
  return z.guid('must be a UUID').toLowerCase().register(referenceFacts, fact);
}

/** The id of another resource, or a link to it. */
export function idOrLinkOf(fact: ReferenceFact, message: string) {
  return z.union([idOf(fact), z.looseObject({ id: idOf(fact) })], message);
}

/** Any JSON value in which, if it has that member, documents name a resource; what stands there is not looked at. */
export function storedOnly(shape: Record<string, z.ZodType>) {
  return z.union([z.looseObject(shape), z.unknown()]);
}

/** A provider, of the record's organization, of one above, or of another that the writer may see. */
export function aProvider(kind?: string): ReferenceTarget {
  return { word: 'providers', right: 'view', free: 'near', ...(kind !== undefined && { kind }) };
}

export const aUser: ReferenceTarget = { word: 'users', right: 'view', free: 'near' };
export const aGroup: ReferenceTarget = { word: 'groups', right: 'view', free: 'near' };
