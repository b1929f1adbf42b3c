import { z } from 'zod';
import { elementsOf, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import type { OutboundRulesRequest } from '../../model/outbound-rules-request.ts';
import { resourceTypes } from '../../model/registry.ts';
import type { TypeWord } from '../../model/type-words.ts';
import type { SeedDocument } from './parse-seed-document.ts';

export const json = z.json();
const references = z.array(z.string()).optional();
/**
 * Permissions on a resource (D-115): identities that are added to, and removed (`without`) from, the inherited ones.
 */
export const seedGrant = z.strictObject({
  actions: z.array(z.string().regex(/^[a-z]+\.[a-z]+$/, 'must be an action such as lambda.view')).min(1),
  identities: references,
  without: references,
  value: json.optional(),
});

/** A resource of a seed and all below it. An undefined member is not in the document. */
export interface SeedNode {
  collection: TypeWord;
  name: string;
  /** Null for the root organization, which is there already. */
  parent: SeedNode | null;
  path: readonly string[];
  /** The body of its creation (D-030) but for name and properties. */
  record: JsonObject;
  /** Properties whose references are not resolved yet. */
  properties: JsonObject | undefined;
  grants: z.output<typeof seedGrant>[] | undefined;
  children: SeedNode[];
}

export interface Seed {
  /** Make the default providers first (D-067)? */
  defaultProviders: boolean;
  /** The organizations that the document describes completely: pruning deletes only below them. */
  scope: SeedNode[];
  root: SeedNode;
  /** Replaces the rules for outbound calls; undefined if the document does not mention them. */
  outbound: OutboundRulesRequest['rules'] | undefined;
  errorAt: SeedDocument['errorAt'];
}

/** Everything below a node, parents before children, in the order of the document. */
export function* descendants(node: SeedNode): Generator<SeedNode> {
  for (const child of node.children) {
    yield child;
    yield* descendants(child);
  }
}

export function childWordsOf(collection: TypeWord): TypeWord[] {
  return resourceTypes.filter((type) => type.parents.includes(collection)).map((type) => type.collection);
}

/** Placeholder in a document for a value that cannot be read; applying it keeps the stored value. A new user gets a random password. */
export const NOT_EXPORTED = '<not exported>';

/** Returns the stored value that a value at this path of new properties replaces. A secret's item is found by its key, at any position. */
export function storedSecret(stored: JsonObject, properties: JsonObject, path: readonly string[]): Json | undefined {
  const at = (properties: JsonObject, ...names: readonly string[]) =>
    names.reduce<Json | undefined>(
      (value, name) => (Array.isArray(value) ? value[Number(name)] : memberOf(value, name)),
      properties,
    );
  const [list, index, ...rest] = path;
  if (list !== 'items' || index === undefined) return at(stored, ...path);
  const key = at(properties, list, index, 'key');
  const item = elementsOf(stored.items).find((candidate) => memberOf(candidate, 'key') === key);
  return item && at({ item }, 'item', ...rest);
}
