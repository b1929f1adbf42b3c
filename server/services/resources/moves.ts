import { type ErrorDetail, PlatformError, reasonOf } from '../../model/errors.ts';
import { idIn, type JsonObject } from '../../model/json.ts';
import { newId, type StoredResource, type Uuid, type WorldView } from '../../model/record.ts';
import { typeOf, typeOfWord } from '../../model/registry.ts';
import { ancestors, closestAncestor, ENVIRONMENT } from '../../model/rules/hierarchy.ts';
import { referencesIn, replaceReferences } from '../../model/rules/references.ts';
import {
  getProvider,
  isContainerEngine,
  isLambdaProvider,
  requireFit,
  visibleProviders,
} from '../../model/types/provider-rules.ts';
import type { Actor } from './actor.ts';
import type { Action, Policies } from './policies.ts';
import type { ResourceService } from './resource-service.ts';

interface Move {
  verb: 'migrate' | 'promote';
  source: StoredResource;
  target: Required<Action>['target'];
  /** The rule whose lambda does the move (D-132). */
  rule: StoredResource | undefined;
  /** The source as it would be at the target, when such a lambda moves it. */
  expectedRecord: Partial<StoredResource>;
  /** The record at the target of a move without such a rule: a new one, or the updated existing one. Throws the same errors as a create. */
  copy(source: StoredResource): StoredResource;
}

/** Time for instances at the target to serve: an image may have to be pulled first. */
const RUNNING_TIMEOUT_MS = 10 * 60_000;

/** Runs containers, as far as a move depends on it. */
export interface WorkloadController {
  /** Rejects with the 503 of D-183 if the engine of this provider does not respond now; `operation` is the action that needs it. */
  requireEngine(providerId: Uuid, operation: string): Promise<void>;
  /** Resolves when a container runs as its record asks; rejects with the reason why it never will, or not in time. */
  whenRunning(containerId: Uuid, timeoutMs: number): Promise<void>;
}

/** Moves to another provider or environment (D-131 to D-134). Meanwhile the source is MIGRATING: live state, which ends with the process. */
export class Moves {
  readonly #service: ResourceService;
  readonly #policies: Policies;
  readonly #containers: WorkloadController;
  readonly #moving = new Set<Uuid>();
  readonly #failures = new Map<Uuid, string>();

  constructor(service: ResourceService, policies: Policies, containers: WorkloadController) {
    this.#service = service;
    this.#policies = policies;
    this.#containers = containers;
  }

  isMoving(id: Uuid): boolean {
    return this.#moving.has(id);
  }

  live(id: Uuid): JsonObject {
    if (this.#moving.has(id)) return { status: 'MIGRATING' };
    const reason = this.#failures.get(id);
    return reason === undefined ? {} : { status_detail: { reason } };
  }

  /** Starts a migration; the source is MIGRATING when this resolves. Rejects with 400, 403, 404, 409, 503. */
  async migrate(actor: Actor, source: StoredResource, providerId: Uuid): Promise<void> {
    const { view } = this.#service;
    const noun = typeOf(source).singular;
    const parent = view.find(source.parent ?? '') ?? view.root;
    this.#service.demand(actor, `${noun}.migrate`, source);
    this.#service.demand(actor, `${noun}.create`, parent);
    const provider = getProvider(view, providerId);
    if (!RUNS[noun]?.(provider.type)) {
      throw new PlatformError(
        'invalid_target',
        `provider '${provider.name}' does not run ${noun}s: its type is ${provider.type}`,
      );
    }
    const environment = closestAncestor(view, source, ENVIRONMENT);
    const rule = environment && this.#policies.mover('migrate', source, environment);
    if (!rule && idIn(source.properties.provider) === providerId) {
      throw new PlatformError('invalid_target', `${noun} '${source.name}' is already on provider '${provider.name}'`);
    }
    requireFit(view, provider, parent);
    await this.#begin(actor, {
      verb: 'migrate',
      source,
      target: { provider_id: providerId },
      rule,
      expectedRecord: { properties: onProvider(source, providerId) },
      copy: (from) => {
        const { grants } = from;
        // All permissions stay: it is the same resource on another provider.
        return { ...this.#copyOf(actor, from, parent, providerId), ...(grants && { grants }) };
      },
    });
  }

  /** Starts a promotion; the source is MIGRATING when this resolves. Rejects with 400, 403, 404, 409, 503. */
  async promote(actor: Actor, source: StoredResource, environmentId: Uuid): Promise<void> {
    const { view } = this.#service;
    const noun = typeOf(source).singular;
    this.#service.demand(actor, `${noun}.promote`, source);
    const target = view.find(environmentId);
    if (target?.type !== ENVIRONMENT) throw new PlatformError('not_found', `environment ${environmentId} not found`);
    this.#service.demand(actor, `${noun}.create`, target);
    const rule = this.#policies.mover('promote', source, target);
    if (!rule && source.parent === target.id) {
      throw new PlatformError('invalid_target', `${noun} '${source.name}' is already in environment '${target.name}'`);
    }
    await this.#begin(actor, {
      verb: 'promote',
      source,
      target: { target_env_id: environmentId },
      rule,
      expectedRecord: { parent: target.id },
      copy: (from) => {
        const existing = view
          .named(typeOf(from).collection, from.name, target.id)
          .find((candidate) => !this.#moving.has(candidate.id));
        const bound = boundIn(view, from, target);
        if (existing) {
          const updated = { ...existing, properties: carriedOver(existing, bound) };
          return this.#service.drafts.update(actor, existing, updated).record;
        }
        return this.#copyOf(actor, bound, target, this.#providerAt(from, target));
      },
    });
  }

  async #begin(actor: Actor, move: Move): Promise<void> {
    const { verb, source, target, rule } = move;
    const noun = typeOf(source).singular;
    if (this.#moving.has(source.id))
      throw new PlatformError('invalid_state', `${noun} '${source.name}' is already MIGRATING`);
    this.#moving.add(source.id);
    try {
      const copy = rule ? { ...source, id: newId(), ...move.expectedRecord } : move.copy(source);
      const action: Action = { verb, record: source, copy, target };
      // A migration leaves as many as there were.
      const isNew = verb === 'promote' && !this.#service.view.find(copy.id);
      this.#policies.limit([action], { added: isNew ? [copy] : [] });
      if (!rule && noun === 'container') {
        await this.#containers.requireEngine(idIn(copy.properties.provider) ?? '', 'moving a container');
      }
      this.#failures.delete(source.id);
      const finish = this.#policies.announce(actor, action, rule);
      // After the answer has been made: it shows the source as MIGRATING (D-131).
      setImmediate(() => this.#run(actor, move, action, finish));
    } catch (refused) {
      this.#moving.delete(source.id);
      throw refused;
    }
  }

  /** Moves the resource, then ends the source's MIGRATING state; `status_detail` reports a failure (D-134). */
  async #run(actor: Actor, move: Move, action: Action, finish: (newRecord?: StoredResource) => void): Promise<void> {
    const { source, rule } = move;
    try {
      let newRecord: StoredResource | undefined;
      if (rule) await this.#policies.move(actor, action, rule);
      else newRecord = await this.#carryOut(actor, move);
      this.#moving.delete(source.id);
      finish(newRecord);
    } catch (failure) {
      this.#moving.delete(source.id);
      this.#failures.set(source.id, reasonOf(failure));
    }
  }

  /** The built-in move; returns the created record. Throws if it cannot be created any more. */
  async #carryOut(actor: Actor, { verb, source, copy: copyOf }: Move): Promise<StoredResource> {
    const noun = typeOf(source).singular;
    const origin = this.#present(source);
    const copy = copyOf(origin);
    if (noun === 'container') await this.#runCopy(actor, verb, source, copy);
    if (verb === 'migrate') return this.#replace(actor, origin, copy);
    this.#present(source);
    if (noun !== 'container') await this.#service.commit(actor, `${noun}.${verb}`, [copy]);
    return copy;
  }

  /**
   * Replaces the source by its copy. The source serves until all references follow the copy, and may change until then: so the commit
   * that deletes it reads its current state and its current references again. New references to the source cannot delay that.
   */
  async #replace(actor: Actor, origin: StoredResource, copy: StoredResource): Promise<StoredResource> {
    const { view, drafts } = this.#service;
    const { singular: noun } = typeOf(origin);
    let [lastRecord, newRecord] = [origin, copy];
    this.#present(origin);
    for (const leaving of [[], [origin.id]]) {
      const present = view.find(origin.id);
      if (!present) break;
      const isChanged = present !== lastRecord;
      if (isChanged) newRecord = drafts.touched(actor, caughtUp(view.find(newRecord.id) ?? newRecord, present));
      lastRecord = present;
      const followers = view
        .referrers(origin.id)
        .filter(({ properties }) => Object.values(properties).includes(origin.id))
        .map((referrer) => drafts.touched(actor, following(referrer, origin, newRecord)));
      const put = view.find(newRecord.id) && !isChanged ? followers : [newRecord, ...followers];
      await this.#service.commit(actor, `${noun}.migrate`, put, leaving);
    }
    return newRecord;
  }

  /** Stores a container's copy and waits until it runs; a new one that never does is removed again (D-134). */
  async #runCopy(actor: Actor, verb: Move['verb'], source: StoredResource, copy: StoredResource): Promise<void> {
    const isNew = !this.#service.view.find(copy.id);
    await this.#service.commit(actor, `container.${verb}`, [copy], []);
    try {
      await this.#containers.whenRunning(copy.id, RUNNING_TIMEOUT_MS);
      this.#present(source);
    } catch (failure) {
      if (isNew && this.#service.view.find(copy.id)) {
        await this.#service.commit(actor, `container.${verb}`, [], [copy.id]);
      }
      throw failure;
    }
  }

  /** The current source; throws 404 if it was deleted. */
  #present(source: StoredResource): StoredResource {
    const present = this.#service.view.find(source.id);
    if (present) return present;
    throw new PlatformError(
      'not_found',
      `${typeOf(source).singular} '${source.name}' was deleted before it could be moved`,
    );
  }

  /** Returns a copy of the resource with a new id elsewhere (D-133). It passes all checks of a create there. */
  #copyOf(actor: Actor, source: StoredResource, parent: StoredResource, providerId: Uuid): StoredResource {
    const requestedRecord = { ...source, id: newId(), properties: onProvider(source, providerId) };
    return this.#service.drafts.create(actor, requestedRecord, parent).record;
  }

  /** The source's provider if it is not its environment's own and fits the target, else the first visible one of its type that does (D-133). */
  #providerAt(source: StoredResource, target: StoredResource): Uuid {
    const { view } = this.#service;
    const sourceProvider = getProvider(view, idIn(source.properties.provider) ?? '');
    const candidates = visibleProviders(view, target, (type) => type === sourceProvider.type);
    const idsAbove = [...ancestors(view, target)].map(({ id }) => id);
    const fits = (provider: StoredResource) => {
      // Nothing at the target refers to the source's environment.
      if (provider.parent === source.parent && !idsAbove.includes(provider.parent ?? '')) return false;
      try {
        requireFit(view, provider, target);
        return true;
      } catch {
        return false;
      }
    };
    const chosen = [sourceProvider, ...candidates].find(fits);
    if (!chosen)
      throw new PlatformError(
        'environment_mismatch',
        `no provider of type ${sourceProvider.type} fits environment '${target.name}'`,
      );
    return chosen.id;
  }
}

const RUNS: Readonly<Record<string, (providerType: string) => boolean>> = {
  container: isContainerEngine,
  lambda: isLambdaProvider,
};

function onProvider({ properties }: StoredResource, providerId: Uuid): JsonObject {
  return { ...properties, provider: { ...Object(properties.provider), id: providerId } };
}

function caughtUp({ id, state, owner, created, properties }: StoredResource, source: StoredResource): StoredResource {
  const { provider } = properties;
  return { ...source, id, state, owner, created, properties: { ...source.properties, ...(provider && { provider }) } };
}

/**
 * Returns a record that refers to the source of a migration, such as an endpoint or an event rule, with references to
 * the copy instead.
 */
function following(record: StoredResource, source: StoredResource, copy: StoredResource): StoredResource {
  const properties = Object.entries(record.properties).map(([name, value]) => [
    name,
    value === source.id ? copy.id : value,
  ]);
  return { ...record, properties: Object.fromEntries(properties) };
}

/** The properties of a resource that is there already, with those that a promotion carries over (D-133). */
function carriedOver(existing: StoredResource, source: StoredResource): JsonObject {
  const { promoted = [] } = typeOf(source);
  const ownProperties = Object.entries(existing.properties).filter(([name]) => !promoted.includes(name));
  const carried = Object.entries(source.properties).filter(([name]) => promoted.includes(name));
  return Object.fromEntries([...ownProperties, ...carried]);
}

/** A promoted record, with the target's secrets and volumes of the same names mounted (D-133). Throws 409 that names what is missing. */
function boundIn(view: WorldView, source: StoredResource, target: StoredResource): StoredResource {
  const missing: ErrorDetail[] = [];
  const bound = new Map<string, string>();
  for (const { id, pointer, fact, target: named } of referencesIn(source)) {
    if (fact.onDelete !== 'unmounted') continue;
    const mounted = view.find(id);
    const boundTarget = mounted && view.named(named.word, mounted.name, target.id)[0];
    if (boundTarget) bound.set(id, boundTarget.id);
    else missing.push({ pointer, message: `${typeOfWord(named.word).singular} '${mounted?.name ?? id}'` });
  }
  if (missing.length === 0) {
    const properties = replaceReferences(
      typeOf(source).collection,
      source.properties,
      (id) => bound.get(id.toLowerCase()) ?? id,
    );
    return { ...source, properties };
  }
  const names = [...new Set(missing.map(({ message }) => message))].join(', ');
  throw new PlatformError(
    'environment_mismatch',
    `environment '${target.name}' lacks what ${typeOf(source).singular} '${source.name}' mounts: ${names}; create it there first. Nothing was promoted.`,
    { details: missing.map(({ pointer, message }) => ({ pointer, message: `${message} is not in '${target.name}'` })) },
  );
}
