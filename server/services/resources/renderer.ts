import type { Json, JsonObject } from '../../model/json.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import type { Link, ReadContext } from '../../model/resource-type.ts';
import { fqonOf, ORGANIZATION, owningOrganization } from '../../model/rules/hierarchy.ts';
import { withoutSecrets } from '../../model/rules/secrets.ts';
import { typeIdOf, USER } from '../../model/type-names.ts';

export interface RendererOptions {
  view: WorldView;
  /** `{meta_url}` as the client reaches it (D-011). */
  metaUrl: string;
  gatewayUrl: string;
  /** First segment of type names (D-080). */
  typePrefix: string;
  /** Live state that is not part of the world, merged into properties (D-048). */
  live(resource: StoredResource): JsonObject;
  /** True if the reader may see a resource that is embedded in another. Default: yes. */
  canView?(resource: StoredResource): boolean;
  showCredentials?(provider: StoredResource): boolean;
  texts?: RenderedTexts;
}

/** A link as a client sees it: without a name where the resource is gone. */
export interface LinkView extends Link {
  name?: string;
  properties?: { fqon: string };
}

/** A record as a client sees it (D-022). */
export interface RecordView extends JsonObject {
  id: Uuid;
  name: string;
  resource_type: string;
  resource_state: string;
  org: LinkView;
  owner: LinkView;
  created: { typeId: string; id: Uuid; timestamp: string };
  modified: { action: 'create' | 'update'; user: Uuid; timestamp: string };
  properties: JsonObject;
}

/** Turns stored records into what a client sees: links (D-020) and records (D-022). */
export class Renderer {
  readonly #options: RendererOptions;
  readonly #context: ReadContext;

  constructor(options: RendererOptions) {
    this.#options = options;
    this.#context = {
      view: options.view,
      gatewayUrl: options.gatewayUrl,
      link: (resource) => this.link(resource),
      fullName: (type) => this.fullName(type),
    };
  }

  /** Full name of a type with the configured prefix (D-080). */
  fullName(type: string): string {
    return `${this.#options.typePrefix}::${type}`;
  }

  /** Absolute address of a resource (D-011). */
  hrefOf(resource: StoredResource): string {
    const organization = this.organizationHref(resource);
    return resource.type === ORGANIZATION
      ? organization
      : `${organization}/${typeOf(resource).collection}/${resource.id}`;
  }

  /** Absolute address of an organization itself, or of the organization that a resource belongs to. */
  organizationHref(resource: StoredResource): string {
    const { view, metaUrl } = this.#options;
    const organization = resource.type === ORGANIZATION ? resource : owningOrganization(view, resource);
    return `${metaUrl}/${fqonOf(view, organization)}`;
  }

  /** Link with name; organizations carry their fqon (D-020, D-021). */
  link(resource: StoredResource): LinkView {
    return {
      typeId: typeIdOf(resource.type),
      id: resource.id,
      name: resource.name,
      href: this.hrefOf(resource),
      ...(resource.type === ORGANIZATION && { properties: { fqon: fqonOf(this.#options.view, resource) } }),
    };
  }

  /** Link by id; if the resource was deleted, with what is still known about it. */
  linkTo(id: Uuid, type: string): LinkView {
    const resource = this.#options.view.find(id);
    if (resource) return this.link(resource);
    return { typeId: typeIdOf(type), id, href: `${this.#options.metaUrl}/root/resources/${id}` };
  }

  /** The whole record (D-022), with embedded records where asked and visible (D-037). */
  record(resource: StoredResource, embed: readonly string[] = []): RecordView {
    const embedded = embed.flatMap((embedName) => this.#embedded(resource, embedName));
    const { description, variables, tags, created, modified } = resource;
    const { view } = this.#options;
    const { name: _, ...org } = this.link(owningOrganization(view, resource));
    return {
      id: resource.id,
      name: resource.name,
      ...(description !== undefined && { description }),
      resource_type: this.fullName(resource.type),
      resource_state: this.fullName(`Resource::State::${resource.state}`),
      org,
      owner: resource.type === USER ? this.link(view.root) : this.linkTo(resource.owner, USER),
      created: { typeId: typeIdOf(USER), id: created.by, timestamp: created.at },
      modified: { action: modified.action, user: modified.by, timestamp: modified.at },
      properties: { ...this.properties(resource), ...Object.fromEntries(embedded) },
      ...(variables && { variables }),
      ...(tags && { tags }),
    };
  }

  /** `record` as JSON. What depends on more than the world is made again each time. */
  text(resource: StoredResource): Buffer {
    const { texts, live, showCredentials, metaUrl, gatewayUrl } = this.#options;
    const render = () => JSON.stringify(this.record(resource));
    const { collection } = typeOf(resource);
    const isLive = collection === 'containers' || collection === 'jobs' || Object.keys(live(resource)).length > 0;
    if (!texts || isLive || showCredentials?.(resource)) return Buffer.from(render());
    return texts.textOf(`${metaUrl} ${gatewayUrl}`, resource, render);
  }

  /** The properties as clients see them: with computed and live ones, without hidden ones. */
  properties(resource: StoredResource): JsonObject {
    const type = typeOf(resource);
    const parent = resource.parent ? this.#options.view.find(resource.parent) : undefined;
    const properties: JsonObject = {
      ...(type.toView?.(resource, this.#context) ?? resource.properties),
      ...this.#options.live(resource),
      ...(parent && { parent: this.link(parent) }),
    };
    const { showCredentials = () => false } = this.#options;
    return withoutSecrets(resource, properties, () => showCredentials(resource));
  }

  /** The property that an embedding adds: a plural name for a list, a singular one for a single record. */
  #embedded(resource: StoredResource, embedName: string): [word: string, value: Json][] {
    const { view, canView = () => true } = this.#options;
    const found = typeOf(resource).embed?.[embedName]?.(resource, view) ?? [];
    const records = found.filter(canView).map((embeddedRecord) => this.record(embeddedRecord));
    if (embedName.endsWith('s')) return [[embedName, records]];
    return records[0] ? [[embedName, records[0]]] : [];
  }
}

/** All texts together; a thousand expanded records are about one megabyte. */
const MAX_BYTES = 8 * 1024 * 1024;

/** Records as JSON until anything changes, because a record shows names and places of others. Not for what changes without the world. */
export class RenderedTexts {
  readonly #view: WorldView;
  #revision = Number.NaN;
  #sizeBytes = 0;
  readonly #texts = new Map<string, Map<StoredResource, Buffer>>();

  constructor(view: WorldView) {
    this.#view = view;
  }

  /** The text of a record. @param reader who sees the same of it: what else its rendering depends on */
  textOf(reader: string, resource: StoredResource, render: () => string): Buffer {
    const { revision } = this.#view;
    if (this.#revision !== revision || this.#sizeBytes > MAX_BYTES) {
      this.#texts.clear();
      this.#sizeBytes = 0;
      this.#revision = revision;
    }
    const texts = this.#texts.get(reader) ?? new Map<StoredResource, Buffer>();
    this.#texts.set(reader, texts);
    const knownText = texts.get(resource);
    if (knownText) return knownText;
    const text = Buffer.from(render());
    this.#sizeBytes += text.length;
    texts.set(resource, text);
    return text;
  }
}
