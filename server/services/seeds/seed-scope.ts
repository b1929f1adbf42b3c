import { segmentsOf } from '../../model/patch/pointer.ts';
import { isUuid, type StoredResource, type Uuid, type WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { descendants, type SeedNode } from './seed-node.ts';

/** Target of a reference: a resource of the seed, or one that exists only in the world. */
export type Found = SeedNode | Uuid;

/** Prefix of a plain text in the place of a reference. */
export const LITERAL = '=';

const levels: readonly TypeWord[] = ['orgs', 'workspaces', 'environments'];

/** A seed laid over a world: which resources it speaks of, and what the references in it mean. */
export class SeedScope {
  readonly #root: SeedNode;
  readonly #view: WorldView;
  readonly #present: Map<SeedNode, StoredResource>;
  readonly #byId = new Map<Uuid, SeedNode>();
  readonly #children = new Map<SeedNode, Map<string, SeedNode>>();

  /** @param present the resources that the nodes were made of */
  constructor(root: SeedNode, view: WorldView, present: ReadonlyMap<SeedNode, StoredResource>) {
    this.#root = root;
    this.#view = view;
    this.#present = new Map(present);
  }

  /** For a seed that was not exported from the world: looks up the targets of its references there. */
  static ofWorld(root: SeedNode, view: WorldView): SeedScope {
    const scope = new SeedScope(root, view, new Map());
    const nodes = [root, ...descendants(root)];
    for (const node of nodes) {
      if (isUuid(node.record.id)) scope.#byId.set(node.record.id.toLowerCase(), node);
    }
    for (const node of nodes) {
      const found = scope.#match(node);
      if (found) scope.#present.set(node, found);
    }
    return scope;
  }

  /** The resource that a node speaks of, as it was before the seed was applied; undefined when it was not there. */
  present(node: SeedNode): StoredResource | undefined {
    return this.#present.get(node);
  }

  /**
   * Resolves a reference of a node: an id to itself; a path such as `/demo/website/development/contact-form` down from
   * the root organization; a name to the nearest resource of that name, below the node itself or one of its ancestors.
   * @param collections the possible types
   * @throws Error with the reason when it leads to nothing, or to more than one
   */
  resolve(text: string, collections: readonly TypeWord[], from: SeedNode): Found {
    const isId: boolean = isUuid(text); // as a type guard it would leave no string for the rest
    if (isId) return this.#byId.get(text.toLowerCase()) ?? text.toLowerCase();
    const isPath = text.startsWith('/');
    const [found, another] = isPath ? this.#byPath(text, collections) : this.#byName(text, collections, from);
    const types = collections.join(' or ');
    if (another !== undefined)
      throw new Error(`'${text}' matches several ${types}. Give the intended one an id and use that.`);
    if (found !== undefined) return found;
    throw new Error(
      isPath ? `'${text}' is not a path of ${types}` : `none of the ${types} here and above is named '${text}'`,
    );
  }

  #child(node: SeedNode, key: string): SeedNode | undefined {
    let children = this.#children.get(node);
    if (!children) {
      children = new Map(node.children.map((child) => [`${child.collection}/${child.name}`, child]));
      this.#children.set(node, children);
    }
    return children.get(key);
  }

  /**
   * Finds the record of a node: by its id if it has a known one, else by its name under its parent, unless another node
   * has that record's id.
   */
  #match(node: SeedNode): StoredResource | undefined {
    if (!node.parent) return this.#view.root;
    const byId = isUuid(node.record.id) ? this.#view.find(node.record.id.toLowerCase()) : undefined;
    if (byId && typeOf(byId).collection === node.collection) return byId;
    const above = this.#present.get(node.parent);
    const byName = above && this.#view.named(node.collection, node.name, above.id)[0];
    return byName && this.#byId.has(byName.id) ? undefined : byName;
  }

  #byPath(text: string, collections: readonly TypeWord[]): Found[] {
    const names = segmentsOf(text);
    return names.reduce<Found[]>(
      (reached, name, index) =>
        reached.flatMap((at) => this.#below(at, index === names.length - 1 ? collections : levels, name)),
      [this.#root],
    );
  }

  #byName(text: string, collections: readonly TypeWord[], from: SeedNode): Found[] {
    for (let at: SeedNode | null = from; at; at = at.parent) {
      const found = this.#below(at, collections, text);
      if (found.length > 0) return found;
    }
    return [];
  }

  #below(at: Found, collections: readonly TypeWord[], name: string): Found[] {
    const parentId = typeof at === 'string' ? at : this.#present.get(at)?.id;
    return collections.flatMap((collection): Found[] => {
      const planned = typeof at === 'string' ? undefined : this.#child(at, `${collection}/${name}`);
      if (planned) return [planned];
      const existing = parentId === undefined ? undefined : this.#view.named(collection, name, parentId)[0];
      return existing ? [existing.id] : [];
    });
  }
}
