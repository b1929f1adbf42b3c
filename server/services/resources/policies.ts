import { PlatformError, reasonOf } from '../../model/errors.ts';
import type { LambdaInvoker } from '../../model/invocation.ts';
import type { JsonObject } from '../../model/json.ts';
import { newId, type StoredResource, type Uuid, type WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import {
  allBelow,
  ancestors,
  closestAncestor,
  ENVIRONMENT,
  fqonOf,
  ORGANIZATION,
  WORKSPACE,
} from '../../model/rules/hierarchy.ts';
import {
  EVENT_RULE,
  explainLimit,
  isWithinLimit,
  LIMIT_RULE,
  matchedActions,
  suppresses,
} from '../../model/rules/policy-rules.ts';
import { isAnnounced, neverEmitted } from '../../model/rules/rule-actions.ts';
import type { TypeWord } from '../../model/type-words.ts';
import type { Actor } from './actor.ts';
import type { Renderer } from './renderer.ts';

type Phase = 'pre' | 'post';

export interface PoliciesOptions {
  view: WorldView;
  /** Absent: no rule is asked and no event is sent; what is put in whole, such as a seed, is no request (D-215). */
  invoker?: LambdaInvoker;
  /** Renders with the platform's own address. */
  renderer(): Renderer;
  metaUrl(): string;
  onWarning(message: string): void;
}

export interface Action {
  verb: string;
  /** An additional verb: changing the number of instances is `scale` as well as an update (D-125). A rule for both gets it as `verb`. */
  also?: string;
  /** The affected record: the result of a create or update, or the current record before a deletion or a move. */
  record: StoredResource;
  /** For a move, the record at the target. The policies there apply as well. */
  copy?: StoredResource;
  /** Target of a move, for events (D-126). */
  target?: { provider_id: Uuid } | { target_env_id: Uuid };
}

interface Balance {
  added?: readonly StoredResource[];
  removed?: readonly StoredResource[];
}

/** Applies the rules of the policies at and above a resource: limits before an action, events around it (D-121..D-127). */
export class Policies {
  readonly #options: PoliciesOptions;
  /** End of the last event of each lambda. */
  readonly #turns = new Map<Uuid, Promise<void>>();

  constructor(options: PoliciesOptions) {
    this.#options = options;
  }

  /** Throws 409 with the predicate when one of the actions would violate a strict limit rule by what results of all of them (D-122). */
  limit(actions: readonly Action[], balance: Balance): void {
    if (this.#options.view.all('rules').length === 0) return;
    const counts = new Map<string, number>();
    const warnings = new Map<Uuid, string>();
    for (const action of actions) {
      const { record: subject, copy: record = subject } = action;
      const { singular: noun } = typeOf(record);
      const rules = this.#rulesFor(action, 'pre', LIMIT_RULE);
      if (rules.length === 0) continue;
      // As a read would show it: a provider with its name.
      const limitedRecord = { name: record.name, properties: this.#options.renderer().properties(record) };
      for (const { rule, node, verb } of rules) {
        const count = (collection: TypeWord) => {
          const key = `${node.id} ${collection}`;
          const total = counts.get(key) ?? this.#countAfter(node, collection, balance);
          counts.set(key, total);
          return total;
        };
        if (isWithinLimit(rule, { singular: noun, record: limitedRecord, count })) continue;
        const message = `limit rule '${rule.name}' would be violated: ${explainLimit(rule)}`;
        if (rule.properties.strict !== false) throw new PlatformError('limit_rule', message);
        warnings.set(rule.id, `${message} (${noun}.${verb} of '${record.name}' was allowed: the rule is not strict)`);
      }
    }
    for (const warning of warnings.values()) this.#options.onWarning(warning);
  }

  /** Says in the log what of a rule will never come to anything (D-121). */
  explain(rule: StoredResource): void {
    const idle = neverEmitted(rule);
    if (idle.length > 0)
      this.#options.onWarning(`rule '${rule.name}' was stored, but it has no effect for ${idle.join(', ')}`);
  }

  /** True if a rule keeps the creation of this record from reaching any engine (D-127). */
  suppresses(record: StoredResource): boolean {
    return this.#rulesFor({ verb: 'create', record }, 'pre').some(({ rule }) =>
      suppresses(rule, `${typeOf(record).singular}.create.pre`),
    );
  }

  /** Invokes the lambdas of event rules, now for `pre`; the result does so for `post`. No failure changes the action (D-124, D-132). */
  announce(actor: Actor, action: Action, except?: StoredResource): (newRecord?: StoredResource) => void {
    if (this.#options.view.all('rules').length === 0) return () => {};
    if (!isAnnounced(typeOf(action.record).singular)) return () => {};
    // Rules and record are read before the action: a deletion may take them along.
    const events = (phase: Phase) =>
      this.#rulesFor(action, phase, EVENT_RULE)
        .filter(({ rule }) => rule.id !== except?.id)
        .map(({ rule, verb }) => ({ rule, event: this.#event(actor, { ...action, verb }, phase, rule) }));
    const [before, after] = [events('pre'), events('post')];
    for (const { rule, event } of before) this.#send(rule, event);
    return (newRecord) => {
      for (const { rule, event } of after) {
        this.#send(rule, newRecord ? { ...event, resource: this.#options.renderer().record(newRecord) } : event);
      }
    };
  }

  /** The oldest event rule in a policy of that very environment that takes a move (`migrate`, `promote`) over (D-132). */
  mover(verb: string, resource: StoredResource, environment: StoredResource): StoredResource | undefined {
    const action = `${typeOf(resource).singular}.${verb}`;
    return this.#rulesAt(environment)
      .filter(
        (rule) =>
          rule.type === EVENT_RULE &&
          matchedActions(rule).some((matchedAction) => matchedAction === action || matchedAction === `${action}.pre`),
      )
      .sort((a, b) => a.created.at.localeCompare(b.created.at))[0];
  }

  /** Lets a rule's lambda do a move; resolves when its invocation has ended, throws when it failed. */
  async move(actor: Actor, action: Action, rule: StoredResource): Promise<void> {
    await this.#invoke(rule, this.#event(actor, action, 'pre', rule), 'move');
  }

  /** The rules that match an action in a phase, with the node whose policy has it, the nearest first, and the matched verb (D-121). */
  #rulesFor(
    { verb, also, record, copy }: Action,
    phase: Phase,
    type?: string,
  ): { rule: StoredResource; node: StoredResource; verb: string }[] {
    const { view } = this.#options;
    const { singular: noun } = typeOf(record);
    const verbs = [verb, ...(also === undefined ? [] : [also])];
    const verbFor = (rule: StoredResource) => {
      const matched = type === undefined || rule.type === type ? matchedActions(rule) : [];
      return verbs.find(
        (candidate) => matched.includes(`${noun}.${candidate}`) || matched.includes(`${noun}.${candidate}.${phase}`),
      );
    };
    const nodes = new Set([...ancestors(view, record), ...(copy ? ancestors(view, copy) : [])]);
    return [...nodes].flatMap((node) =>
      this.#rulesAt(node).flatMap((rule) => {
        const matchedVerb = verbFor(rule);
        return matchedVerb === undefined ? [] : [{ rule, node, verb: matchedVerb }];
      }),
    );
  }

  /** The rules in the policies of a node. */
  #rulesAt(node: StoredResource): readonly StoredResource[] {
    const { view, invoker } = this.#options;
    if (!invoker) return [];
    return view.children(node.id, 'policies').flatMap((policy) => [...view.children(policy.id, 'rules')]);
  }

  /** Returns the number of resources of a type below a node after the action (D-123). */
  #countAfter(node: StoredResource, collection: TypeWord, { added = [], removed = [] }: Balance): number {
    const { view } = this.#options;
    const isCounted = (candidate: StoredResource) => typeOf(candidate).collection === collection;
    const isBelow = (candidate: StoredResource) => [...ancestors(view, candidate)].some(({ id }) => id === node.id);
    const removedIds = new Set(removed.map(({ id }) => id));
    let total = added.filter((candidate) => isCounted(candidate) && isBelow(candidate)).length;
    for (const candidate of allBelow(view, node.id))
      if (isCounted(candidate) && !removedIds.has(candidate.id)) total += 1;
    return total;
  }

  /** The event document of D-126. */
  #event(actor: Actor, { verb, record, target }: Action, phase: Phase, rule: StoredResource): JsonObject {
    const { view, metaUrl } = this.#options;
    const renderer = this.#options.renderer();
    const action = `${typeOf(record).singular}.${verb}.${phase}`;
    const organization = closestAncestor(view, record, ORGANIZATION) ?? view.root;
    const workspace = closestAncestor(view, record, WORKSPACE);
    const environment = closestAncestor(view, record, ENVIRONMENT);
    const policy = view.find(rule.parent ?? '');
    const user = view.find(actor.caller.userId);
    return {
      action,
      eventName: action,
      fqon: fqonOf(view, organization),
      meta_url: metaUrl(),
      ...(workspace && { workspace_id: workspace.id }),
      ...(environment && { environment_id: environment.id }),
      ...target,
      resource: renderer.record(record),
      rule: renderer.link(rule),
      ...(policy && { policy: renderer.link(policy) }),
      ...(user && { user: renderer.link(user) }),
      args: actor.args ?? {},
    };
  }

  /** Events reach a lambda one after the other, in order: a burst of them is neither lost nor mixed up. */
  #send(rule: StoredResource, event: JsonObject): void {
    const lambdaId = lambdaOf(rule);
    const before = this.#turns.get(lambdaId) ?? Promise.resolve();
    const turn = before
      .then(() => this.#invoke(rule, event, 'event'))
      .catch((fault: unknown) => this.#options.onWarning(reasonOf(fault)))
      .finally(() => {
        if (this.#turns.get(lambdaId) === turn) this.#turns.delete(lambdaId);
      });
    this.#turns.set(lambdaId, turn);
  }

  /** Throws an Error that says which rule's lambda failed, and how. */
  async #invoke(rule: StoredResource, event: JsonObject, trigger: 'event' | 'move'): Promise<void> {
    const { invoker } = this.#options;
    if (!invoker) return;
    const { outcome } = await invoker.invoke(lambdaOf(rule), {
      executionId: newId(),
      trigger,
      body: Buffer.from(JSON.stringify(event)),
      context: { method: 'POST', path: '', params: {}, headers: {}, creds: '', user: null, httpAware: false },
    });
    if (!outcome.ok) throw new Error(`event rule '${rule.name}': lambda ${lambdaOf(rule)} failed: ${outcome.message}`);
  }
}

function lambdaOf({ properties }: StoredResource): Uuid {
  return typeof properties.lambda === 'string' ? properties.lambda : '';
}
