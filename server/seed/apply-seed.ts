import { unescapePathComponent } from 'fast-json-patch';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { Grant } from '../model/record.ts';
import type { TypeWord } from '../model/type-words.ts';
import { pointerTo } from '../model/validate.ts';
import { descendants, type SeedNode, type SeedPlan } from './read-seed.ts';
import { replaceReferences } from './seed-references.ts';
import { type ExistingResources, type Found, SeedScope } from './seed-scope.ts';

/** The world that a seed is applied to; acts as the root user. What it refuses it throws as PlatformError. */
export interface SeedTarget extends ExistingResources {
  /** Makes the default providers (D-067). */
  initializeProviders(): Promise<void>;
  create(parentId: Uuid, word: TypeWord, body: JsonObject): Promise<{ id: Uuid }>;
  /** Adds to and removes from the identities of a resource's entitlements, keyed by action (D-115). */
  grant(resourceId: Uuid, grants: Record<string, Grant>): Promise<void>;
}

/**
 * Creates everything in a seed: the default providers, then each resource after those it names, then the rights. References
 * are all resolved before the first resource is created; what the target refuses later leaves the ones before it created.
 *
 * @returns how many resources were created
 * @throws SeedError that names the line of what could not be created
 */
export function applySeed(plan: SeedPlan, target: SeedTarget): Promise<number> {
  return new Application(plan, target).run();
}

/** A grant whose identities are known. */
interface ResolvedGrant {
  actions: readonly string[];
  add: Found[];
  remove: Found[];
  value: Json | undefined;
}

const identityWords: readonly TypeWord[] = ['groups', 'users'];

class Application {
  readonly #plan: SeedPlan;
  readonly #target: SeedTarget;
  readonly #scope: SeedScope;
  readonly #ids: Map<SeedNode, Uuid>;

  constructor(plan: SeedPlan, target: SeedTarget) {
    this.#plan = plan;
    this.#target = target;
    this.#scope = new SeedScope(plan.root, target);
    this.#ids = new Map([[plan.root, target.rootId]]);
  }

  async run(): Promise<number> {
    const { root, defaultProviders } = this.#plan;
    if (defaultProviders) await this.#attempt(root, () => this.#target.initializeProviders());
    const order = this.#creationOrder();
    const granting = [root, ...order].filter((node) => node.grants.length > 0);
    const grants = new Map(granting.map((node) => [node, this.#resolveGrants(node)]));
    for (const node of order) await this.#create(node);
    for (const [node, ofNode] of grants) await this.#grant(node, ofNode);
    return order.length;
  }

  /** All resources in the order of the file, but each after its parent and whatever it names. */
  #creationOrder(): SeedNode[] {
    const order = new Set([this.#plan.root]);
    const underway = new Set<SeedNode>();
    const visit = (node: SeedNode) => {
      if (order.has(node)) return;
      if (underway.has(node)) {
        throw this.#plan.errorAt(node.path, 'cannot be created: what it names needs it to be there first');
      }
      underway.add(node);
      if (node.parent) visit(node.parent);
      replaceReferences(node.word, node.properties, (text, words, path) => {
        const found = this.#resolve(node, text, words, ['properties', ...path]);
        if (typeof found !== 'string') visit(found);
        return text;
      });
      order.add(node);
    };
    const nodes = [...descendants(this.#plan.root)];
    // Organizations first: a user's home names one by its fqon, wherever the two stand in the file.
    for (const node of nodes) if (node.word === 'orgs') visit(node);
    for (const node of nodes) visit(node);
    order.delete(this.#plan.root);
    return [...order];
  }

  #resolveGrants(node: SeedNode): ResolvedGrant[] {
    return node.grants.map(({ actions, identities = [], without = [], value }, index) => {
      const resolveAll = (names: string[], member: string) =>
        names.map((name, at) => this.#resolve(node, name, identityWords, ['entitlements', index, member, at]));
      return {
        actions,
        add: resolveAll(identities, 'identities'),
        remove: resolveAll(without, 'without'),
        value,
      };
    });
  }

  async #create(node: SeedNode): Promise<void> {
    const properties = replaceReferences(node.word, node.properties, (text, words, path) =>
      this.#idOf(this.#resolve(node, text, words, ['properties', ...path])),
    );
    const parentId = this.#idOf(node.parent ?? this.#plan.root);
    const body = { ...node.record, name: node.name, properties };
    const { id } = await this.#attempt(node, () => this.#target.create(parentId, node.word, body));
    this.#ids.set(node, id);
  }

  async #grant(node: SeedNode, ofNode: readonly ResolvedGrant[]): Promise<void> {
    const grants: Record<string, Grant> = {};
    for (const { actions, add, remove, value } of ofNode) {
      for (const action of actions) {
        const before = grants[action];
        grants[action] = {
          ...before,
          add: [...(before?.add ?? []), ...add.map((found) => this.#idOf(found))],
          remove: [...(before?.remove ?? []), ...remove.map((found) => this.#idOf(found))],
          ...(value !== undefined && { value }),
        };
      }
    }
    await this.#attempt(node, () => this.#target.grant(this.#idOf(node), grants));
  }

  #resolve(node: SeedNode, text: string, words: readonly TypeWord[], path: readonly PropertyKey[]): Found {
    try {
      return this.#scope.resolve(text, words, node);
    } catch (cause) {
      throw this.#plan.errorAt([...node.path, ...path], cause instanceof Error ? cause.message : String(cause), cause);
    }
  }

  #idOf(found: Found): Uuid {
    if (typeof found === 'string') return found;
    const id = this.#ids.get(found);
    if (id === undefined) throw new Error(`${pointerTo(found.path)} is named before it is created`);
    return id;
  }

  /** Does a part of the work; what the target refuses is blamed on the line of the file it comes from. */
  async #attempt<T>(node: SeedNode, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (cause) {
      if (!(cause instanceof PlatformError) || cause.status === 500) throw cause;
      const [detail] = cause.details ?? [];
      const within = detail?.pointer.split('/').slice(1).map(unescapePathComponent) ?? [];
      throw this.#plan.errorAt([...node.path, ...within], detail?.message ?? cause.message, cause);
    }
  }
}
