import { PlatformError } from '../errors.ts';
import { enclosing, ORGANIZATION, owningOrganization } from '../hierarchy.ts';
import { derivedId, type Uuid } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import { newlyNamed } from '../named-resources.ts';
import type { StoredResource } from '../record.ts';
import { referencesOf, withoutMention } from '../references.ts';
import { typeOf, typeOfWord } from '../registry.ts';
import type { ReadContext, WriteContext } from '../resource-type.ts';
import { withoutSecrets } from '../secrets.ts';
import { fullNameOf, typeIdOf } from '../type-names.ts';
import type { TypeWord } from '../type-words.ts';
import { parseWith } from '../validate.ts';
import type { WorldView } from '../world-view.ts';

const NAMESPACE = '0b6d3f2a-58c1-4f0e-9a37-3a1c8d5e7b90';
const AT = '2026-01-02T03:04:05.678Z';

/** What a test says of a resource; the rest is made up. */
interface Wish {
  /** Under root unless given. */
  under?: StoredResource;
  name?: string;
  /** For types with sub-types. */
  type?: string;
  properties?: JsonObject;
}

/** For tests: a world in memory whose resources pass schema and `admit` of their types as in the resource service. */
export class WorldForTests {
  readonly root: StoredResource;
  readonly rootUser: StoredResource;
  readonly view: WorldView;
  readonly limits = { maxInstances: 16, maxLambdaTimeoutS: 500 };
  readonly allowedHostPaths = ['/srv/data'];
  readonly ownHosts: ReadonlySet<string> = new Set(['jar.example']);
  readonly gatewayUrl = 'http://127.0.0.1:4701';
  readonly #records = new Map<Uuid, StoredResource>();
  #made = 0;

  constructor() {
    const owner = this.#newId();
    this.root = this.#put(this.#newId(), ORGANIZATION, 'root', null, {}, owner);
    this.rootUser = this.#put(owner, 'Resource::User', 'root', this.root.id, { password: 'x' }, owner);
    const all = () => [...this.#records.values()];
    const wordOf = (record: StoredResource) => typeOf(record).word;
    this.view = {
      root: this.root,
      find: (id) => this.#records.get(id),
      children: (id, word) => all().filter((one) => one.parent === id && (word === undefined || wordOf(one) === word)),
      ownedBy: (id, word) => this.view.all(word).filter((one) => owningOrganization(this.view, one).id === id),
      all: (word) => all().filter((one) => wordOf(one) === word),
      named: (word, name, parent) =>
        this.view.all(word).filter((one) => one.name === name && (parent === undefined || one.parent === parent)),
      referrers: (id) => all().filter((one) => referencesOf(one).includes(id)),
    };
  }

  /** Creates a resource; throws what its type throws. */
  create(word: TypeWord, wish: Wish = {}): StoredResource {
    const { under = this.root, name = `${word}-${this.#made}`, type = typeOfWord(word).name } = wish;
    return this.#admit(this.#newId(), type, name, under, wish.properties ?? {});
  }

  /** Writes a resource anew, as PUT and PATCH do; throws what its type throws. */
  update(record: StoredResource, properties: JsonObject, name = record.name): StoredResource {
    return this.#admit(record.id, record.type, name, this.parentOf(record), properties, this.get(record));
  }

  /** The rules of its type for going. */
  release(record: StoredResource): void {
    typeOf(record).release?.(record, this.view);
  }

  /** The properties that are left of a record when another is deleted; undefined when nothing changes. */
  forget(record: StoredResource, gone: StoredResource): JsonObject | undefined {
    return withoutMention(record, gone.id);
  }

  /** Takes a record away, and nothing else. */
  remove(record: StoredResource): void {
    this.#records.delete(record.id);
  }

  /** A resource as it is stored now. */
  get(record: StoredResource): StoredResource {
    return this.#records.get(record.id) ?? record;
  }

  /** The properties as a client sees them, but for `parent` and live state. */
  shown(record: StoredResource, showCredentials = false): JsonObject {
    const stored = this.get(record);
    const context: ReadContext = {
      view: this.view,
      gatewayUrl: this.gatewayUrl,
      link: ({ id, type, name }) => ({ typeId: typeIdOf(type), id, name, href: `http://meta/${id}` }),
      fullName: (type) => fullNameOf(type, 'Platform'),
      live: () => ({}),
    };
    return withoutSecrets(
      stored,
      typeOf(stored).present?.(stored, context) ?? stored.properties,
      () => showCredentials,
    );
  }

  /** A workspace with one environment of that type, and in root the providers that workloads name. */
  withEnvironment(environmentType = 'development') {
    const provider = (kind: string) => this.create('providers', { type: `Configuration::Provider::${kind}` });
    const workspace = this.create('workspaces');
    const environment = this.create('environments', {
      under: workspace,
      properties: { environment_type: environmentType },
    });
    return { workspace, environment, docker: provider('CaaS::Docker'), lambdas: provider('Lambda') };
  }

  parentOf(record: StoredResource): StoredResource {
    return this.view.find(record.parent ?? '') ?? enclosing(this.view, record, ORGANIZATION) ?? this.root;
  }

  #admit(
    id: Uuid,
    type: string,
    name: string,
    parent: StoredResource,
    sent: JsonObject,
    previous?: StoredResource,
  ): StoredResource {
    const { limits, allowedHostPaths, ownHosts, view } = this;
    const row = typeOf({ type });
    const written = parseWith(row.properties, sent, '/properties') as JsonObject; // every type's schema is one of objects
    newlyNamed(view, { type, properties: written }, previous);
    const context: WriteContext = {
      view,
      parent,
      limits,
      allowedHostPaths,
      ownHosts,
      newId: () => this.#newId(),
      ...(previous && { previous }),
    };
    const admitted = row.admit?.({ id, type, name, properties: written }, context) ?? { properties: written };
    for (const one of admitted.companions ?? []) this.#put(one.id, one.type, one.name, one.parent, one.properties);
    return this.#put(id, type, name, previous ? previous.parent : parent.id, admitted.properties);
  }

  #put(id: Uuid, type: string, name: string, parent: Uuid | null, properties: JsonObject, by = this.rootUser.id) {
    const record: StoredResource = {
      id,
      type,
      name,
      parent,
      state: 'Active',
      owner: by,
      created: { by, at: AT },
      modified: { action: 'create', by, at: AT },
      properties,
    };
    this.#records.set(id, record);
    return record;
  }

  #newId(): Uuid {
    this.#made += 1;
    return derivedId(NAMESPACE, String(this.#made));
  }
}

/** For tests: the error that a call throws; fails when it throws none. */
export function refusalOf(call: () => unknown): { status: number; message: string; pointer?: string } {
  try {
    call();
  } catch (thrown) {
    if (!(thrown instanceof PlatformError)) throw thrown;
    const pointer = thrown.details?.[0]?.pointer;
    return { status: thrown.status, message: thrown.message, ...(pointer !== undefined && { pointer }) };
  }
  throw new Error('nothing was refused');
}
