import { isUuid, type Uuid } from '../model/ids.ts';
import { segmentsOf } from '../model/pointer.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';
import { descendants, type SeedNode } from './seed-node.ts';

/** What a reference leads to: a resource of the seed, or one that only the world has. */
export type Found = SeedNode | Uuid;

/** Begins a text that stands where a reference may stand, but names nothing. */
export const LITERAL = '=';

const levels: readonly TypeWord[] = ['orgs', 'workspaces', 'environments'];

/** A seed laid over a world: which resources it speaks of, and what the references in it mean. */
export class SeedScope {
  readonly #root: SeedNode;
  readonly #view: WorldView;
  /** The resources that were in the world before the seed was applied. */
  readonly #present = new Map<SeedNode, StoredResource>();
  /** Nodes that were given an id. */
  readonly #byId = new Map<Uuid, SeedNode>();
  /** The children of each node by type and name. */
  readonly #children = new Map<SeedNode, Map<string, SeedNode>>();

  constructor(root: SeedNode, view: WorldView) {
    this.#root = root;
    this.#view = view;
    const nodes = [root, ...descendants(root)];
    for (const node of nodes) {
      this.#children.set(node, new Map(node.children.map((child) => [`${child.word}/${child.name}`, child])));
      if (isUuid(node.record.id)) this.#byId.set(node.record.id.toLowerCase(), node);
    }
    for (const node of nodes) {
      const found = this.#match(node);
      if (found) this.#present.set(node, found);
    }
  }

  /** The resource that a node speaks of, as it was before the seed was applied; undefined when it was not there. */
  present(node: SeedNode): StoredResource | undefined {
    return this.#present.get(node);
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

  /** By its id when it has one that is known, else by its name under its parent, unless another node has that one's id. */
  #match(node: SeedNode): StoredResource | undefined {
    if (!node.parent) return this.#view.root;
    const byId = isUuid(node.record.id) ? this.#view.find(node.record.id.toLowerCase()) : undefined;
    if (byId && typeOf(byId).word === node.word) return byId;
    const above = this.#present.get(node.parent);
    const byName = above && this.#view.named(node.word, node.name, above.id)[0];
    return byName && this.#byId.has(byName.id) ? undefined : byName;
  }

  #byPath(text: string, words: readonly TypeWord[]): Found[] {
    const names = segmentsOf(text);
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
    const parentId = typeof at === 'string' ? at : this.#present.get(at)?.id;
    return words.flatMap((word): Found[] => {
      const planned = typeof at === 'string' ? undefined : this.#children.get(at)?.get(`${word}/${name}`);
      if (planned) return [planned];
      const existing = parentId === undefined ? undefined : this.#view.named(word, name, parentId)[0];
      return existing ? [existing.id] : [];
    });
  }
}
