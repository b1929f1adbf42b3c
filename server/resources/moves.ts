import { PlatformError } from '../model/errors.ts';
import { ENVIRONMENT, enclosing, lineage } from '../model/hierarchy.ts';
import type { Uuid } from '../model/ids.ts';
import { idIn, type JsonObject } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import { demandFit, getProvider } from '../model/types/provider-rules.ts';
import type { Act } from './act.ts';
import type { MoveTarget, Policies } from './policies.ts';
import type { ResourceService } from './resource-service.ts';

/** Seconds after which a client may ask again while the container engine is away (D-183). */
const ENGINE_RETRY_S = '5';

/** What a built-in move does to the world: the new or updated record, endpoints that follow it, the source if it goes. */
interface Plan {
  put: StoredResource[];
  remove: Uuid[];
}

export interface MovesOptions {
  service: ResourceService;
  policies: Policies;
  newId(): Uuid;
}

/**
 * Migrate (to another provider) and promote (to another environment) of containers and lambdas (D-131..D-134).
 * While one is under way its source is MIGRATING, which is live state and ends with the process.
 */
export class Moves {
  readonly #service: ResourceService;
  readonly #policies: Policies;
  readonly #newId: () => Uuid;
  readonly #moving = new Set<Uuid>();
  readonly #failures = new Map<Uuid, string>();

  constructor({ service, policies, newId }: MovesOptions) {
    this.#service = service;
    this.#policies = policies;
    this.#newId = newId;
  }

  /** Is the resource on its way elsewhere? */
  isMoving(id: Uuid): boolean {
    return this.#moving.has(id);
  }

  /** The properties that a move adds to its source. */
  live(id: Uuid): JsonObject {
    if (this.#moving.has(id)) return { status: 'MIGRATING' };
    const reason = this.#failures.get(id);
    return reason === undefined ? {} : { status_detail: { reason } };
  }

  /** Starts a migration; the source is MIGRATING when this returns. Throws 400, 403, 404, 409, 503. */
  migrate(act: Act, source: StoredResource, providerId: Uuid): void {
    const { view } = this.#service;
    const noun = typeOf(source).noun;
    const parent = view.find(source.parent ?? '') ?? view.root;
    this.#service.demand(act, `${noun}.migrate`, source);
    this.#service.demand(act, `${noun}.create`, parent);
    const provider = getProvider(view, providerId);
    const environment = enclosing(view, source, ENVIRONMENT);
    const rule = environment && this.#policies.mover('migrate', source, environment);
    if (!rule && idIn(source.properties.provider) === providerId) {
      throw new PlatformError(400, `${noun} '${source.name}' is on provider '${provider.name}' already`);
    }
    this.#begin(act, 'migrate', source, rule, { provider_id: providerId }, () => {
      const copy = this.#copyOf(act, source, parent, providerId);
      const endpoints = view
        .referrers(source.id)
        .filter((one) => one.properties.implementation_id === source.id)
        .map((one) => ({ ...one, properties: { ...one.properties, implementation_id: copy.id } }));
      return { put: [copy, ...endpoints], remove: [source.id] };
    });
  }

  /** Starts a promotion; the source is MIGRATING when this returns. Throws 400, 403, 404, 409, 503. */
  promote(act: Act, source: StoredResource, environmentId: Uuid): void {
    const { view } = this.#service;
    const noun = typeOf(source).noun;
    this.#service.demand(act, `${noun}.promote`, source);
    const target = view.find(environmentId);
    if (target?.type !== ENVIRONMENT) throw new PlatformError(404, `environment ${environmentId} not found`);
    this.#service.demand(act, `${noun}.create`, target);
    const rule = this.#policies.mover('promote', source, target);
    if (!rule && source.parent === target.id) {
      throw new PlatformError(400, `${noun} '${source.name}' is in environment '${target.name}' already`);
    }
    this.#begin(act, 'promote', source, rule, { target_env_id: environmentId }, () => {
      const existing = view.named(typeOf(source).word, source.name, target.id).find((one) => !this.#moving.has(one.id));
      if (existing)
        return { put: [this.#service.draftUpdate(act, existing, carriedOver(existing, source))], remove: [] };
      return { put: [this.#copyOf(act, source, target, this.#providerAt(source, target))], remove: [] };
    });
  }

  #begin(
    act: Act,
    verb: 'migrate' | 'promote',
    source: StoredResource,
    rule: StoredResource | undefined,
    target: MoveTarget,
    plan: () => Plan,
  ): void {
    const noun = typeOf(source).noun;
    if (this.#moving.has(source.id)) throw new PlatformError(409, `${noun} '${source.name}' is MIGRATING already`);
    if (!rule && noun === 'container') {
      throw new PlatformError(503, 'moving a container needs a container engine, and none is attached', {
        headers: { 'Retry-After': ENGINE_RETRY_S },
      });
    }
    this.#policies.limit(verb, source);
    this.#moving.add(source.id);
    this.#failures.delete(source.id);
    let work: () => Promise<void>;
    try {
      if (rule) {
        work = () => this.#policies.move(act, verb, source, rule, target);
      } else {
        const { put, remove } = plan();
        work = () => this.#service.commit(act, `${noun}.${verb}`, put, remove);
      }
    } catch (refused) {
      this.#moving.delete(source.id);
      throw refused;
    }
    const finish = this.#policies.announce(act, verb, source, target, rule);
    // After the answer has been made: it shows the source as MIGRATING (D-131).
    setImmediate(() => {
      work()
        .then(finish)
        .catch((failure: unknown) => {
          this.#failures.set(source.id, failure instanceof Error ? failure.message : String(failure));
        })
        .finally(() => this.#moving.delete(source.id));
    });
  }

  /** The same resource, new id, elsewhere (D-133); passes all checks of a create there. */
  #copyOf(act: Act, source: StoredResource, parent: StoredResource, providerId: Uuid): StoredResource {
    const { name, description, type, properties, variables, tags } = source;
    const draft = {
      id: this.#newId(),
      type,
      name,
      ...(description !== undefined && { description }),
      properties: { ...properties, provider: { ...Object(properties.provider), id: providerId } },
    };
    return this.#service.draftCreate(act, draft, parent.id, { ...(variables && { variables }), ...(tags && { tags }) });
  }

  /** The source's provider if it fits the target environment, else the first visible one of its type that does (D-133). */
  #providerAt(source: StoredResource, target: StoredResource): Uuid {
    const { view } = this.#service;
    const own = getProvider(view, idIn(source.properties.provider) ?? '');
    const candidates = [...lineage(view, target)].flatMap((at) => [...view.children(at.id, 'providers')]);
    const fits = (provider: StoredResource) => {
      try {
        demandFit(view, provider, target);
        return true;
      } catch {
        return false;
      }
    };
    const chosen = [own, ...candidates.filter((one) => one.type === own.type)].find(fits);
    if (!chosen) throw new PlatformError(409, `no provider of type ${own.type} fits environment '${target.name}'`);
    return chosen.id;
  }
}

/** What a promotion carries over to a resource that is there already: code or image, env, labels, port mappings (D-133). */
const CARRIED = [
  'code',
  'code_type',
  'package_url',
  'compressed',
  'handler',
  'runtime',
  'image',
  'env',
  'labels',
  'port_mappings',
];

function carriedOver(existing: StoredResource, source: StoredResource): JsonObject {
  const kept = Object.entries(existing.properties).filter(([name]) => !CARRIED.includes(name));
  const carried = Object.entries(source.properties).filter(([name]) => CARRIED.includes(name));
  return Object.fromEntries([...kept, ...carried]);
}
