import { z } from 'zod';
import type { TypeWord } from './type-words.ts';

/** The facts about a property that a form needs besides its schema. Part of the API document as `x-terrarium-form`. */
export interface FormFact {
  label?: string;
  /** Position among the most used properties of the type, from 1; properties without a position come last. */
  order?: number;
  unit?: 'MB' | 's';
  /** `code` is multi-line source code, `fqon` names an organization, `concealed` are texts that other people must not see. */
  kind?: 'code' | 'fqon' | 'concealed';
  /** Applies while another property, or the last segment of `resource_type`, has one of these values. The type enforces it. */
  when?: { property: string; is: readonly string[]; isRequired?: true };
  /** The value is the name of an entry in a list of the resource that another property refers to. */
  entryOf?: { property: string; list: 'port_mappings' | 'items' };
  /** The server derives the value from the resource with the `id` in another property. */
  isFilledIn?: true;
}

export const formFacts = z.registry<FormFact>();

/** The target type of a reference, and the permission that the reference requires (D-117). */
export interface ReferenceTarget {
  word: TypeWord;
  /** Verb of the permission on the target that a new reference requires. */
  right: 'view' | 'invoke';
  /** References without a permission: `near`, to resources of the record's organization or one above it; `public`, to a public lambda. */
  free?: 'near' | 'public';
  /** Accepted sub-types, as in `?type=` of their list. The type enforces the rule itself. */
  kind?: string;
}

/** At the target's deletion: `keeps` and `forgets` allow it; the others block it unless forced (D-128..D-130, D-072, D-079). */
export type OnDelete = 'keeps' | 'forgets' | 'unmounted' | 'follows';

export interface ReferenceFact {
  /** The type of the target, or a mapping from the value of another property. */
  to: ReferenceTarget | { decidedBy: string; targets: Readonly<Record<string, ReferenceTarget>> };
  onDelete: OnDelete;
  /** Status if the target does not exist; absent: any value is stored. */
  missing?: 400 | 404 | 422;
  /** The platform does not use the reference: only seed documents convert it to a name. */
  isStoredOnly?: true;
}

export const referenceFacts = z.registry<ReferenceFact>();

/** Properties with several possible names: a regular expression for all of them (D-083). */
export const spellings = z.registry<{ pattern: string }>();

/** The id of another resource: a UUID in any letter case, stored in lower case (D-014). */
export function idOf(fact: ReferenceFact) {
  return z.guid('must be a UUID').toLowerCase().register(referenceFacts, fact);
}

export function idOrLinkOf(fact: ReferenceFact, message: string) {
  return z.union([idOf(fact), z.looseObject({ id: idOf(fact) })], message);
}

/** Any JSON value. If it has that member, seed documents treat it as a reference; the value is not validated. */
export function storedOnly(shape: Record<string, z.ZodType>) {
  return z.union([z.looseObject(shape), z.unknown()]);
}

/** A provider of the record's organization, of one above it, or of another one that the writer can view. */
export function aProvider(kind?: string): ReferenceTarget {
  return { word: 'providers', right: 'view', free: 'near', ...(kind !== undefined && { kind }) };
}

export const aUser: ReferenceTarget = { word: 'users', right: 'view', free: 'near' };
export const aGroup: ReferenceTarget = { word: 'groups', right: 'view', free: 'near' };

export interface SecretFact {
  /** Responses leave it out (D-029), or contain the mask unless the reader can change the record and asks for the value (D-066). */
  visibility: 'never' | 'masked';
  isHashed?: true;
}

/** The secret properties of all types: responses, archives, seeds, the history and the document are derived from it. */
export const secretFacts = z.registry<SecretFact>();

/** The mask of a secret value; a request with the mask keeps the stored value. */
export const MASK = '****';
