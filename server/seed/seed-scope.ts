import { unescapePathComponent } from 'fast-json-patch';
import { isUuid, type Uuid } from '../model/ids.ts';
import type { TypeWord } from '../model/type-words.ts';
import { descendants, type SeedNode } from './read-seed.ts';

/** What a reference leads to: a resource of the seed, or one that is in the world already. */
export type Found = SeedNode | Uuid;

/** The present world, as far as a seed may refer to it. */
export interface ExistingResources {
  readonly rootId: Uuid;
  /** The id of the resource of that type and exact name directly under a parent. */
  find(word: TypeWord, name: string, parentId: Uuid): Uuid | undefined;
}

const levels: readonly TypeWord[] = ['orgs', 'workspaces', 'environments'];

/** Finds what the references in a seed mean. */
export class SeedScope {
  readonly #root: SeedNode;
  readonly #existing: ExistingResources;
  /** Resources of the seed that were given an id. */
  readonly #byId = new Map<Uuid, SeedNode>();

  constructor(root: SeedNode, existing: ExistingResources) {
    this.#root = root;
    this.#existing = existing;
    for (const node of descendants(root)) {
      if (isUuid(node.record.id)) this.#byId.set(node.record.id.toLowerCase(), node);
    }
  }

  /**
   * What a reference on a node leads to: an id to itself; a path such as `/demo/website/development/contact-form` down from the
   * root organization; a name to the nearest one of that name, below the node itself or one above it.
   *
   * @param words types that may be meant
   * @throws Error with the reason when it leads to nothing, or to more than one
   */
  resolve(text: string, words: readonly TypeWord[], from: SeedNode): Found {
    const isId: boolean = isUuid(text); // as a type guard it would leave no string for the rest
    if (isId) return this.#byId.get(text.toLowerCase()) ?? text.toLowerCase();
    const isPath = text.startsWith('/');
    const [found, another] = isPath ? this.#byPath(text, words) : this.#byName(text, words, from);
    const types = words.join(' or ');
    if (another !== undefined)
      throw new Error(`'${text}' could mean several ${types}; give the right one an id and write that`);
    if (found !== undefined) return found;
    throw new Error(
      isPath ? `'${text}' leads to none of the ${types}` : `none of the ${types} here and above is named '${text}'`,
    );
  }

  #byPath(text: string, words: readonly TypeWord[]): Found[] {
    const names = text.split('/').slice(1).map(unescapePathComponent);
    return names.reduce<Found[]>(
      (reached, name, index) =>
        reached.flatMap((at) => this.#below(at, index === names.length - 1 ? words : levels, name)),
      [this.#root],
    );
  }

  #byName(text: string, words: readonly TypeWord[], from: SeedNode): Found[] {
    for (let at: SeedNode | null = from; at; at = at.parent) {
      const found = this.#below(at, words, text);
      if (found.length > 0) return found;
    }
    return [];
  }

  #below(at: Found, words: readonly TypeWord[], name: string): Found[] {
    const planned =
      typeof at === 'string' ? [] : at.children.filter((child) => words.includes(child.word) && child.name === name);
    const parentId = typeof at === 'string' ? at : at === this.#root ? this.#existing.rootId : undefined;
    if (parentId === undefined) return planned;
    const existing = words
      .filter((word) => !planned.some((child) => child.word === word))
      .flatMap((word) => this.#existing.find(word, name, parentId) ?? []);
    return [...planned, ...existing];
  }
}
