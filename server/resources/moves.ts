import { PlatformError } from '../model/errors.ts';
import { ENVIRONMENT, enclosing, lineage } from '../model/hierarchy.ts';
import { newId, type Uuid } from '../model/ids.ts';
import { idIn, type JsonObject } from '../model/json.ts';
import { reasonOf } from '../model/reason.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import { demandFit, getProvider, isContainerEngine, isLambdaProvider } from '../model/types/provider-rules.ts';
import type { Act } from './act.ts';
import { boundIn } from './bound-mounts.ts';
import type { Action, Policies } from './policies.ts';
import type { ResourceService } from './resource-service.ts';

/** One move, asked for and found admissible. */
interface Move {
  verb: 'migrate' | 'promote';
  source: StoredResource;
  target: Required<Action>['target'];
  /** The rule whose lambda does the move (D-132). */
  rule: StoredResource | undefined;
  /** The source as it would be at the target, when such a lambda moves it. */
  asked: Partial<StoredResource>;
  /**
   * What the emulator stores at the target without such a rule: a new record, or the one there already as it is updated.
   * Throws what a create there would.
   */
  copy(source: StoredResource): StoredResource;
}

/** How long the instances at the target may take until they serve: an image may have to be pulled first. */
const RUNNING_TIMEOUT_MS = 10 * 60_000;

/** What runs containers, as far as a move has to know. */
export interface Realisation {
  /** Rejects with the 503 of D-183 when the engine of this provider does not answer now; `what` needs it. */
  demandEngine(providerId: Uuid, what: string): Promise<void>;
  /** Resolves when a container runs as its record asks; rejects with the reason why it never will, or not in time. */
  whenRunning(containerId: Uuid, timeoutMs: number): Promise<void>;
}

/**
 * Migrate (to another provider) and promote (to another environment) of containers and lambdas (D-131..D-134).
 * While one is under way its source is MIGRATING, which is live state and ends with the process.
 */
export class Moves {
  readonly #service: ResourceService;
  readonly #policies: Policies;
  readonly #containers: Realisation;
  readonly #moving = new Set<Uuid>();
  readonly #failures = new Map<Uuid, string>();

  constructor(service: ResourceService, policies: Policies, containers: Realisation) {
    this.#service = service;
    this.#policies = policies;
    this.#containers = containers;
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

  /** Starts a migration; the source is MIGRATING when this resolves. Rejects with 400, 403, 404, 409, 503. */
  async migrate(act: Act, source: StoredResource, providerId: Uuid): Promise<void> {
    const { view } = this.#service;
    const noun = typeOf(source).noun;
    const parent = view.find(source.parent ?? '') ?? view.root;
    this.#service.demand(act, `${noun}.migrate`, source);
    this.#service.demand(act, `${noun}.create`, parent);
    const provider = getProvider(view, providerId);
    if (!RUNS[noun]?.(provider.type)) {
      throw new PlatformError(400, `provider '${provider.name}' does not run ${noun}s: it is a ${provider.type}`);
    }
    const environment = enclosing(view, source, ENVIRONMENT);
    const rule = environment && this.#policies.mover('migrate', source, environment);
    if (!rule && idIn(source.properties.provider) === providerId) {
      throw new PlatformError(400, `${noun} '${source.name}' is on provider '${provider.name}' already`);
    }
    demandFit(view, provider, parent);
    await this.#begin(act, {
      verb: 'migrate',
      source,
      target: { provider_id: providerId },
      rule,
      asked: { properties: onProvider(source, providerId) },
      copy: (from) => {
        const { grants } = from;
        // Whoever had a right on it keeps it: it is the same resource, elsewhere.
        return { ...this.#copyOf(act, from, parent, providerId), ...(grants && { grants }) };
      },
    });
  }

  /** Starts a promotion; the source is MIGRATING when this resolves. Rejects with 400, 403, 404, 409, 503. */
  async promote(act: Act, source: StoredResource, environmentId: Uuid): Promise<void> {
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
    await this.#begin(act, {
      verb: 'promote',
      source,
      target: { target_env_id: environmentId },
      rule,
      asked: { parent: target.id },
      copy: (from) => {
        const there = view.named(typeOf(from).word, from.name, target.id).find((one) => !this.#moving.has(one.id));
        const bound = boundIn(view, from, target);
        if (there) {
          const updated = { ...there, properties: carriedOver(there, bound) };
          return this.#service.drafts.update(act, there, updated).record;
        }
        return this.#copyOf(act, bound, target, this.#providerAt(from, target));
      },
    });
  }

  async #begin(act: Act, move: Move): Promise<void> {
    const { verb, source, target, rule } = move;
    const noun = typeOf(source).noun;
    if (this.#moving.has(source.id)) throw new PlatformError(409, `${noun} '${source.name}' is MIGRATING already`);
    this.#moving.add(source.id);
    try {
      const copy = rule ? { ...source, id: newId(), ...move.asked } : move.copy(source);
      const action: Action = { verb, record: source, copy, target };
      // A migration leaves as many as there were.
      const isNew = verb === 'promote' && !this.#service.view.find(copy.id);
      this.#policies.limit(action, { added: isNew ? [copy] : [] });
      if (!rule && noun === 'container') {
        await this.#containers.demandEngine(idIn(copy.properties.provider) ?? '', 'moving a container');
      }
      this.#failures.delete(source.id);
      const finish = this.#policies.announce(act, action, rule);
      // After the answer has been made: it shows the source as MIGRATING (D-131).
      setImmediate(() => this.#run(act, move, action, finish));
    } catch (refused) {
      this.#moving.delete(source.id);
      throw refused;
    }
  }

  /** Does the move, then lets the source be what it is again; a failure is told by its `status_detail` (D-134). */
  async #run(act: Act, move: Move, action: Action, finish: (made?: StoredResource) => void): Promise<void> {
    const { source, rule } = move;
    try {
      let made: StoredResource | undefined;
      if (rule) await this.#policies.move(act, action, rule);
      else made = await this.#carryOut(act, move);
      this.#moving.delete(source.id);
      finish(made);
    } catch (failure) {
      this.#moving.delete(source.id);
      this.#failures.set(source.id, reasonOf(failure));
    }
  }

  /** The built-in move; returns what it made. Throws when it cannot be made any more. */
  async #carryOut(act: Act, { verb, source, copy: copyOf }: Move): Promise<StoredResource> {
    const noun = typeOf(source).noun;
    const origin = this.#present(source);
    const copy = copyOf(origin);
    if (noun === 'container') await this.#runCopy(act, verb, source, copy);
    if (verb === 'migrate') return this.#replace(act, origin, copy);
    this.#present(source);
    if (noun !== 'container') await this.#service.commit(act, `${noun}.${verb}`, [copy]);
    return copy;
  }

  /**
   * Puts a copy in the place of its source. The source serves until everybody follows the copy, and may be changed until then:
   * so what has become of it meanwhile, and what names it by now, is asked again in the commit by which it goes. Nobody who goes on
   * naming it can hold that up.
   *
   * @param origin the source as it was copied
   */
  async #replace(act: Act, origin: StoredResource, copy: StoredResource): Promise<StoredResource> {
    const { view, drafts } = this.#service;
    const { noun } = typeOf(origin);
    let [known, made] = [origin, copy];
    this.#present(origin);
    for (const leaving of [[], [origin.id]]) {
      const present = view.find(origin.id);
      if (!present) break;
      const isChanged = present !== known;
      if (isChanged) made = drafts.touched(act, caughtUp(view.find(made.id) ?? made, present));
      known = present;
      const followers = view
        .referrers(origin.id)
        .filter(({ properties }) => Object.values(properties).includes(origin.id))
        .map((one) => drafts.touched(act, following(one, origin, made)));
      const put = view.find(made.id) && !isChanged ? followers : [made, ...followers];
      await this.#service.commit(act, `${noun}.migrate`, put, leaving);
    }
    return made;
  }

  /** Stores a container's copy and waits until it runs; a new one that never does is removed again (D-134). */
  async #runCopy(act: Act, verb: Move['verb'], source: StoredResource, copy: StoredResource): Promise<void> {
    const isNew = !this.#service.view.find(copy.id);
    await this.#service.commit(act, `container.${verb}`, [copy], []);
    try {
      await this.#containers.whenRunning(copy.id, RUNNING_TIMEOUT_MS);
      this.#present(source);
    } catch (failure) {
      if (isNew && this.#service.view.find(copy.id)) {
        await this.#service.commit(act, `container.${verb}`, [], [copy.id]);
      }
      throw failure;
    }
  }

  /** The source as it is now; throws 404 when it is gone. */
  #present(source: StoredResource): StoredResource {
    const present = this.#service.view.find(source.id);
    if (present) return present;
    throw new PlatformError(404, `${typeOf(source).noun} '${source.name}' was deleted before it could be moved`);
  }

  /** The same resource, new id, elsewhere (D-133); passes all checks of a create there. */
  #copyOf(act: Act, source: StoredResource, parent: StoredResource, providerId: Uuid): StoredResource {
    const asked = { ...source, id: newId(), properties: onProvider(source, providerId) };
    return this.#service.drafts.create(act, asked, parent).record;
  }

  /** The source's provider if it is not its environment's own and fits the target, else the first visible one of its type that does (D-133). */
  #providerAt(source: StoredResource, target: StoredResource): Uuid {
    const { view } = this.#service;
    const own = getProvider(view, idIn(source.properties.provider) ?? '');
    const candidates = [...lineage(view, target)].flatMap((at) => [...view.children(at.id, 'providers')]);
    const fits = (provider: StoredResource) => {
      // Nothing at the target refers to the source's environment.
      if (provider.parent === source.parent && provider.parent !== target.id) {
        const isShared = [...lineage(view, target)].some(({ id }) => id === provider.parent);
        if (!isShared) return false;
      }
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

/** What runs which noun. */
const RUNS: Readonly<Record<string, (providerType: string) => boolean>> = {
  container: isContainerEngine,
  lambda: isLambdaProvider,
};

function onProvider({ properties }: StoredResource, providerId: Uuid): JsonObject {
  return { ...properties, provider: { ...Object(properties.provider), id: providerId } };
}

/** A copy that is there, with what its source has come to hold since it was copied. */
function caughtUp({ id, state, owner, created, properties }: StoredResource, source: StoredResource): StoredResource {
  const { provider } = properties;
  return { ...source, id, state, owner, created, properties: { ...source.properties, ...(provider && { provider }) } };
}

/** What names the source of a migration, such as an endpoint or an event rule, naming its copy instead. */
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
  const kept = Object.entries(existing.properties).filter(([name]) => !promoted.includes(name));
  const carried = Object.entries(source.properties).filter(([name]) => promoted.includes(name));
  return Object.fromEntries([...kept, ...carried]);
}
