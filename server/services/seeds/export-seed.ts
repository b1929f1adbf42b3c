import { isDeepStrictEqual } from 'node:util';
import { decodeText } from '../../model/decode-text.ts';
import { PlatformError } from '../../model/errors.ts';
import { type Json, type JsonObject, memberOf } from '../../model/json.ts';
import { segmentsOf } from '../../model/patch/pointer.ts';
import { isUuid, type StoredResource, type Uuid, type WorldView } from '../../model/record.ts';
import { typeOf, typeWordsFrom } from '../../model/registry.ts';
import { currentPathOf } from '../../model/resource-path.ts';
import type { ResourceType } from '../../model/resource-type.ts';
import { toDefaultsView } from '../../model/rules/provider-defaults.ts';
import { namedBy, replaceReferences } from '../../model/rules/references.ts';
import { replaceSecrets } from '../../model/rules/secrets.ts';
import { fullNameOf } from '../../model/type-names.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { shapeOf } from '../../model/types/schema-parts.ts';
import { descendants, NOT_EXPORTED, type SeedNode } from './seed-node.ts';
import { LITERAL, SeedScope } from './seed-scope.ts';
import { entriesOf, identityWords } from './seed-target.ts';
import { type TextFormat, textOf } from './seed-text.ts';
import { containsVariables } from './seed-variables.ts';

export interface ExportOptions extends Pick<FormOptions, 'typePrefix'> {
  /** Path of the organization to export with all below it, such as `/demo/shop`; `/` for everything. */
  scope: string;
  /** `{gateway_url}`: what an untouched default gateway publishes. */
  gatewayUrl: string;
  format: TextFormat;
  rules?: JsonObject[];
  revise?(form: JsonObject): JsonObject;
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
  ]).filter((collection) => !levels.includes(collection)),
  ...levels,
];

/**
 * The text of a world, or of one of its organizations, as a seed document. Applying it to the same world changes nothing, and the same
 * world always gives the same text.
 * Resources are sorted by type and name. They refer to each other by name; if that is ambiguous by path; if that is ambiguous by id. An id
 * is exported only if something refers to it, even inside a text. Resources that every platform has from its start (default providers, root
 * user) are omitted unless they were changed, and so are default values. A value that cannot be read is replaced by `<not exported>`.
 * Creators, times and disabled accounts are not exported.
 * @throws PlatformError 404 if the scope is not an organization, 400 if it is not a path
 */
export function exportSeed(view: WorldView, options: ExportOptions): string {
  return new Export(view, options).text();
}

class Export {
  readonly #view: WorldView;
  readonly #options: ExportOptions;
  readonly #builtIn: BuiltIn;
  readonly #records = new Map<SeedNode, StoredResource>();
  readonly #forms = new Map<SeedNode, JsonObject>();
  readonly #mentioned = new Set<Uuid>();

  constructor(view: WorldView, options: ExportOptions) {
    this.#view = view;
    this.#options = options;
    this.#builtIn = builtInOf(view, options.gatewayUrl);
  }

  text(): string {
    const { rules = [] } = this.#options;
    const root = this.#node(this.#view.root, null);
    const organization = this.#nodeAt(this.#options.scope, root);
    this.#addChildren(organization);
    this.#makeForms(root, this.#addReferences(organization));
    const contents: JsonObject = {
      ...(organization !== root && { scope: currentPathOf(this.#view, this.#recordOf(organization)) }),
      ...(!this.#builtIn.areDefaultsComplete && { defaultProviders: false }),
      ...this.#forms.get(root),
      ...this.#collections(root),
      ...(rules.length > 0 && { outbound: rules }),
    };
    // These texts are values, and not places for the reader's variables.
    const document = { format: 1, ...(containsVariables(contents) && { replaceVariables: false }), ...contents };
    return textOf(document, this.#options.format);
  }

  #node(record: StoredResource, parent: SeedNode | null): SeedNode {
    const location = { collection: typeOf(record).collection, name: record.name, parent, path: [] };
    const node: SeedNode = { ...location, record: {}, properties: undefined, grants: undefined, children: [] };
    this.#records.set(node, record);
    parent?.children.push(node);
    return node;
  }

  /** The node of the organization at a path; those above it are there to lead to it. */
  #nodeAt(scope: string, root: SeedNode): SeedNode {
    if (!scope.startsWith('/')) {
      throw new PlatformError(
        'invalid_query',
        `scope '${scope.slice(0, 255)}' is not the path of an organization, such as /demo`,
      );
    }
    const names = segmentsOf(scope).filter(Boolean);
    return names.reduce<SeedNode>((above, name) => {
      const [found] = this.#view.named('orgs', name, this.#recordOf(above).id);
      if (!found)
        throw new PlatformError('not_found', `scope ${scope.slice(0, 255)}: organization '${name}' not found`);
      return this.#node(found, above);
    }, root);
  }

  #recordOf(node: SeedNode): StoredResource {
    const record = this.#records.get(node);
    if (!record) throw new Error(`node '${node.name}' was made of nothing`);
    return record;
  }

  #addChildren(node: SeedNode): void {
    for (const child of this.#view.children(this.#recordOf(node).id)) {
      if (this.#isExported(child)) this.#addChildren(this.#node(child, node));
    }
  }

  /** Excludes built-in resources, and one of two alike: if one of them is on its way elsewhere (D-134), only the other can be named. */
  #isExported(record: StoredResource): boolean {
    const [first] = this.#view.named(typeOf(record).collection, record.name, record.parent ?? undefined);
    return first?.id === record.id && !this.#builtIn.untouched.has(record.id);
  }

  /** Adds the providers outside to which the organization refers, without entitlements, and names of accounts. Returns the complete nodes. */
  #addReferences(organization: SeedNode): SeedNode[] {
    const complete = [organization, ...descendants(organization)];
    const nodes = new Map(Array.from(this.#records, ([node, { id }]) => [id, node]));
    const nodeOf = ({ grants: _, ...record }: StoredResource): SeedNode => {
      const parent = this.#view.find(record.parent ?? '');
      const node = nodes.get(record.id) ?? this.#node(record, parent ? nodeOf(parent) : null);
      if (!nodes.has(record.id) && node.collection === 'providers') complete.push(node);
      nodes.set(record.id, node);
      return node;
    };
    // The list grows: providers refer to others in turn.
    for (const node of complete) {
      for (const id of idsNamedBy(this.#recordOf(node))) {
        const target = this.#view.find(id);
        const isAdded = target && ['providers', ...identityWords].includes(typeOf(target).collection);
        if (isAdded && this.#isExported(target) && !this.#builtIn.sharedIds.has(id)) nodeOf(target);
      }
    }
    return complete;
  }

  #makeForms(root: SeedNode, nodes: readonly SeedNode[]): void {
    const { revise = (form) => form } = this.#options;
    const scope = new SeedScope(root, this.#view, this.#records);
    for (const node of nodes) {
      const refer = (id: Uuid, collections: readonly TypeWord[]) => this.#reference(id, collections, node, scope);
      const form = formOf(this.#recordOf(node), { ...this.#options, refer, secret: () => NOT_EXPORTED });
      this.#forms.set(node, revise(form));
      for (const id of uuidsIn(form)) this.#mentioned.add(id);
    }
  }

  #reference(id: Uuid, collections: readonly TypeWord[], from: SeedNode, scope: SeedScope): string {
    const target = this.#view.find(id);
    if (!target) return id;
    const leadsThere = (text: string) => {
      if (text.startsWith(LITERAL)) return false;
      try {
        const found = scope.resolve(text, collections, from);
        return (typeof found === 'string' ? found : this.#records.get(found)?.id) === id;
      } catch {
        return false;
      }
    };
    return [target.name, currentPathOf(this.#view, target)].find(leadsThere) ?? id;
  }

  #collections(node: SeedNode): JsonObject {
    const byWord = new Map<TypeWord, SeedNode[]>();
    node.children.sort((a, b) => Number(a.name > b.name) - Number(a.name < b.name));
    for (const child of node.children) {
      const siblings = byWord.get(child.collection);
      if (siblings) siblings.push(child);
      else byWord.set(child.collection, [child]);
    }
    return Object.fromEntries(
      collections.flatMap((collection) => {
        const children = byWord.get(collection);
        return children ? [[collection, Object.fromEntries(children.map((child) => this.#entry(child, node)))]] : [];
      }),
    );
  }

  #entry(node: SeedNode, { children: siblings }: SeedNode): [key: string, members: JsonObject] {
    const { id } = this.#recordOf(node);
    const key = keyFor(node.name, siblings);
    const members = {
      ...((this.#mentioned.has(id) || this.#builtIn.defaultIds.has(id)) && { id }),
      ...(key !== node.name && { name: node.name }),
      ...this.#forms.get(node),
      ...this.#collections(node),
    };
    return [key, members];
  }
}

/** The ids that the form of a record names, even those of unused references. */
function idsNamedBy(record: StoredResource): Uuid[] {
  const ids = namedBy(record);
  replaceReferences(typeOf(record).collection, record.properties, (text) => {
    ids.push(text.toLowerCase());
    return text;
  });
  return ids;
}

/** A name as a key: the one name that readers refuse as a key gets another. */
function keyFor(name: string, siblings: readonly SeedNode[]): string {
  if (name !== '__proto__') return name;
  let key = 'proto';
  while (siblings.some((sibling) => sibling.name === key)) key = `_${key}`;
  return key;
}

function uuidsIn(form: JsonObject): Uuid[] {
  const uuids = JSON.stringify(form).matchAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi);
  return Array.from(uuids, ([text]) => text.toLowerCase());
}

type BuiltIn = ReturnType<typeof builtInOf>;

/**
 * Returns the resources that every platform has from the start (D-067, D-068, D-175).
 * @param gatewayUrl what an untouched default gateway publishes
 */
function builtInOf(view: WorldView, gatewayUrl: string) {
  const defaults = toDefaultsView(view, gatewayUrl);
  const areDefaultsComplete = defaults.every(
    ({ draft, found }) => found?.id === draft.id || found?.type === draft.type,
  );
  const fixed = defaults.filter(({ draft, found }) => found?.id === draft.id);
  const untouched = fixed.filter(
    ({ draft, found }) => areDefaultsComplete && found && isPlain(found) && isDeepStrictEqual(draft, partOf(found)),
  );
  const rootUser = view.find(view.root.owner);
  return {
    /** Would making the default providers leave the world as it is? */
    areDefaultsComplete,
    defaultIds: new Set(fixed.map(({ draft }) => draft.id)),
    /** Ids of the default providers that every platform has under their names. */
    sharedIds: new Set(
      defaults.flatMap(({ draft, found }) => (areDefaultsComplete && found?.name === draft.name ? [found.id] : [])),
    ),
    /** Ids of resources that every world has from its start. */
    untouched: new Set([
      ...untouched.map(({ draft }) => draft.id),
      ...(rootUser && isPlainRootUser(rootUser) ? [rootUser.id] : []),
    ]),
  };
}

function partOf({ id, type, name, properties }: StoredResource) {
  return { id, type, name, properties };
}

function isPlain({ description, tags, variables, grants = {} }: StoredResource): boolean {
  const hasMore = [description, tags, variables].some((member) => member !== undefined);
  return !hasMore && Object.keys(grants).length === 0;
}

/** Whatever its password is: that is the configuration's to say. */
function isPlainRootUser(user: StoredResource): boolean {
  const { password: _, ...properties } = user.properties;
  return user.name === 'root' && isPlain(user) && isDeepStrictEqual(properties, { platform_home: 'root' });
}

export interface FormOptions {
  /** First segment of type names (D-080). */
  typePrefix: string;
  /** The text that names a resource; the id itself where nothing better does. */
  refer(id: Uuid, collections: readonly TypeWord[]): string;
  secret(value: Json, path: readonly string[]): Json;
}

/** A resource as a seed document writes it, but for its name, its id and what is below it. */
export function formOf(record: StoredResource, options: FormOptions): JsonObject {
  const { description, tags, variables } = record;
  const properties = propertiesOf(record, options);
  const entitlements = entriesOf(record.grants, (id) => options.refer(id, identityWords));
  return {
    ...(description !== undefined && { description }),
    ...(typeOf(record).subTypes && { resource_type: fullNameOf(record.type, options.typePrefix) }),
    ...(tags && { tags }),
    ...(variables && { variables }),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(entitlements.length > 0 && { entitlements }),
  };
}

function propertiesOf(record: StoredResource, { refer, secret }: FormOptions): JsonObject {
  const type = typeOf(record);
  const defaults = defaultsOf(type);
  const written = Object.entries(record.properties).filter(
    ([name, value]) => !type.serverSet.includes(name) && !isDeepStrictEqual(value, memberOf(defaults, name)),
  );
  const named = replaceReferences(type.collection, Object.fromEntries(written), (text, collections) =>
    isUuid(text) ? refer(text.toLowerCase(), collections) : LITERAL + text,
  );
  const properties = replaceSecrets(type, named, secret);
  const { code } = properties;
  if (type.collection !== 'lambdas' || typeof code !== 'string') return properties;
  const source = decodeText(code); // D-056
  // A source that could be read as another one's encoding has to stay encoded.
  return decodeText(source) === source ? { ...properties, code: source } : properties;
}

/** Values that a type stores for missing properties; containers and jobs do so (D-045). */
function defaultsOf(type: ResourceType): JsonObject {
  // Not the effective defaults of a schema, such as a lambda's `public`: they are never stored (D-027).
  return Object.fromEntries(
    Object.entries(shapeOf(type.properties)).flatMap(([name, schema]) => {
      const { type: kind, defaultValue } = schema._zod.def as { type: string; defaultValue?: Json };
      return kind === 'default' && defaultValue !== undefined ? [[name, defaultValue] as const] : [];
    }),
  );
}
