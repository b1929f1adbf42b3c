import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import { segmentsOf } from '../model/pointer.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf, typeWordsFrom } from '../model/registry.ts';
import { pathOf } from '../model/resource-path.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';
import { type BuiltIn, builtInOf } from './built-in.ts';
import { type FormOptions, formOf } from './seed-form.ts';
import { descendants, type SeedNode } from './seed-node.ts';
import { LITERAL, SeedScope } from './seed-scope.ts';
import { NOT_EXPORTED } from './seed-secrets.ts';

export interface ExportOptions extends Pick<FormOptions, 'typePrefix'> {
  /** Path of the organization to export with all below it, such as `/demo/shop`; `/` for everything. */
  scope: string;
  /** `{gateway_url}`: what an untouched default gateway publishes. */
  gatewayUrl: string;
}

/** The order of reading: what others name, then workloads, then the levels below. */
const levels: readonly TypeWord[] = ['apis', 'apiendpoints', 'workspaces', 'environments', 'orgs'];
const collections = [
  ...typeWordsFrom([
    'providers',
    'users',
    'groups',
    'policies',
    'rules',
    'secrets',
    'volumes',
    'lambdas',
    'containers',
    'jobs',
  ]).filter((word) => !levels.includes(word)),
  ...levels,
];

/**
 * A world, or one organization of it, as a seed document: applied to the same world it changes nothing, and made of the same world
 * it is always the same.
 *
 * Resources are sorted by type and name. They name each other by name; where that is not clear by path; where neither is by id.
 * An id is given only to what is named by it, be it inside any text. What every platform has from the start (default
 * providers, root user) is left out unless it was changed, and so are default values of properties. For a value that nobody may
 * read there stands `<not exported>`.
 *
 * Not in it: who created what and when, and whether an account is disabled.
 *
 * @throws PlatformError 404 when there is no organization at the scope, 400 when that is no path
 */
export function exportSeed(view: WorldView, options: ExportOptions): JsonObject {
  return new Export(view, options).document();
}

class Export {
  readonly #view: WorldView;
  readonly #options: ExportOptions;
  readonly #builtIn: BuiltIn;
  readonly #records = new Map<SeedNode, StoredResource>();
  readonly #forms = new Map<SeedNode, JsonObject>();

  constructor(view: WorldView, options: ExportOptions) {
    this.#view = view;
    this.#options = options;
    this.#builtIn = builtInOf(view, options.gatewayUrl);
  }

  document(): JsonObject {
    const root = this.#node(this.#view.root, null);
    const organization = this.#nodeAt(this.#options.scope, root);
    this.#addChildren(organization);
    this.#makeForms(root, organization);
    return {
      format: 1,
      ...(organization !== root && { scope: this.#pathOf(this.#recordOf(organization)) }),
      ...(!this.#builtIn.areDefaultsComplete && { defaultProviders: false }),
      ...this.#forms.get(root),
      ...this.#collections(root, uuidsIn(this.#forms.values())),
    };
  }

  #node(record: StoredResource, parent: SeedNode | null): SeedNode {
    const { word } = typeOf(record);
    const { name } = record;
    const node = { word, name, parent, path: [], record: {}, properties: undefined, grants: undefined, children: [] };
    this.#records.set(node, record);
    parent?.children.push(node);
    return node;
  }

  /** The node of the organization at a path; those above it are there to lead to it. */
  #nodeAt(scope: string, root: SeedNode): SeedNode {
    if (!scope.startsWith('/')) {
      throw new PlatformError(400, `scope '${scope.slice(0, 255)}' is not the path of an organization, such as /demo`);
    }
    const names = segmentsOf(scope).filter(Boolean);
    return names.reduce<SeedNode>((above, name) => {
      const [found] = this.#view.named('orgs', name, this.#recordOf(above).id);
      if (!found) throw new PlatformError(404, `scope ${scope.slice(0, 255)}: there is no organization '${name}'`);
      return this.#node(found, above);
    }, root);
  }

  #recordOf(node: SeedNode): StoredResource {
    const record = this.#records.get(node);
    if (!record) throw new Error(`node '${node.name}' was made of nothing`);
    return record;
  }

  #addChildren(node: SeedNode): void {
    const { id } = this.#recordOf(node);
    const children = this.#view.children(id).filter((child) => {
      // Of two alike (one of them is on its way elsewhere, D-134) only one can be named.
      const [first] = this.#view.named(typeOf(child).word, child.name, id);
      return first?.id === child.id && !this.#builtIn.untouched.has(child.id);
    });
    children.sort((a, b) => Number(a.name > b.name) - Number(a.name < b.name));
    for (const child of children) this.#addChildren(this.#node(child, node));
  }

  #makeForms(root: SeedNode, organization: SeedNode): void {
    const scope = new SeedScope(root, this.#view);
    for (const node of [organization, ...descendants(organization)]) {
      const refer = (id: Uuid, words: readonly TypeWord[]) => this.#reference(id, words, node, scope);
      const form = formOf(this.#recordOf(node), { ...this.#options, refer, secret: () => NOT_EXPORTED });
      this.#forms.set(node, form);
    }
  }

  /** The shortest text that leads from a node to a resource. */
  #reference(id: Uuid, words: readonly TypeWord[], from: SeedNode, scope: SeedScope): string {
    const target = this.#view.find(id);
    if (!target) return id;
    const leadsThere = (text: string) => {
      if (text.startsWith(LITERAL)) return false;
      try {
        const found = scope.resolve(text, words, from);
        return (typeof found === 'string' ? found : this.#records.get(found)?.id) === id;
      } catch {
        return false;
      }
    };
    return [target.name, this.#pathOf(target)].find(leadsThere) ?? id;
  }

  #pathOf(record: StoredResource): string {
    return pathOf(record, (id) => this.#view.find(id));
  }

  /** What stands below a node. */
  #collections(node: SeedNode, mentioned: ReadonlySet<Uuid>): JsonObject {
    const names = new Set(node.children.map(({ name }) => name));
    const entry = (child: SeedNode): [string, JsonObject] => {
      const { id } = this.#recordOf(child);
      const key = keyFor(child.name, names);
      const members = {
        ...((mentioned.has(id) || this.#builtIn.defaultIds.has(id)) && { id }),
        ...(key !== child.name && { name: child.name }),
        ...this.#forms.get(child),
        ...this.#collections(child, mentioned),
      };
      return [key, members];
    };
    return Object.fromEntries(
      collections.flatMap((word) => {
        const children = node.children.filter((child) => child.word === word);
        return children.length > 0 ? [[word, Object.fromEntries(children.map(entry))]] : [];
      }),
    );
  }
}

/** A name as a key: the one name that readers refuse as a key gets another. */
function keyFor(name: string, taken: ReadonlySet<string>): string {
  let key = name === '__proto__' ? 'proto' : name;
  while (key !== name && taken.has(key)) key = `_${key}`;
  return key;
}

function uuidsIn(forms: Iterable<JsonObject>): Set<Uuid> {
  const uuids = new Set<Uuid>();
  for (const form of forms) {
    for (const [text] of JSON.stringify(form).matchAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi)) {
      uuids.add(text.toLowerCase());
    }
  }
  return uuids;
}
