import type { Json, JsonObject } from '../../model/json.ts';
import { resourceTypes } from '../../model/registry.ts';
import type { TypeWord } from '../../model/type-words.ts';
import type { SeedDocument } from './seed-yaml.ts';

/** Who gets which rights on a resource (D-115). Identities are references to users and groups. */
export interface SeedGrant {
  actions: string[];
  /** Added to the inherited identities. */
  identities?: string[] | undefined;
  /** Removed from the inherited identities. */
  without?: string[] | undefined;
  value?: Json | undefined;
}

/** One resource of a seed, and all below it. A member that is undefined is not spoken of. */
export interface SeedNode {
  word: TypeWord;
  name: string;
  /** Null for the root organization, which is there already. */
  parent: SeedNode | null;
  /** Where it is in the document. */
  path: readonly string[];
  /** The body of its creation (D-030) but for name and properties. */
  record: JsonObject;
  /** What they name is not resolved yet. */
  properties: JsonObject | undefined;
  grants: SeedGrant[] | undefined;
  children: SeedNode[];
}

/** A seed document that was read and understood. */
export interface Seed {
  /** Make the default providers first (D-067)? */
  defaultProviders: boolean;
  /** The organizations that the document is whole about, all below them included: what pruning may reach. */
  scope: SeedNode[];
  root: SeedNode;
  errorAt: SeedDocument['errorAt'];
}

/** Everything below a node, parents before children, in the order of the document. */
export function* descendants(node: SeedNode): Generator<SeedNode> {
  for (const child of node.children) {
    yield child;
    yield* descendants(child);
  }
}

export function childWordsOf(word: TypeWord): TypeWord[] {
  return resourceTypes.filter((type) => type.parents.includes(word)).map((type) => type.word);
}
