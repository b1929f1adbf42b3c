import { PlatformError } from '../model/errors.ts';
import { ENVIRONMENT, enclosing, fqonOf, lineage, ORGANIZATION, WORKSPACE } from '../model/hierarchy.ts';
import { newId, type Uuid } from '../model/ids.ts';
import type { LambdaInvoker } from '../model/invocation.ts';
import type { JsonObject } from '../model/json.ts';
import { EVENT_RULE, explainLimit, LIMIT_RULE, limitHolds, matchedActions, suppresses } from '../model/policy-rules.ts';
import { reasonOf } from '../model/reason.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import { isAnnounced, neverEmitted } from '../model/rule-actions.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';
import type { Act } from './act.ts';
import { countBelow } from './count-below.ts';
import type { Renderer } from './renderer.ts';

type Phase = 'pre' | 'post';

export interface PoliciesOptions {
  view: WorldView;
  /** Absent: no rule is asked and no event is sent; what is put in whole, such as a seed, is no request (D-215). */
  invoker?: LambdaInvoker;
  /** Renders for readers that reach us by our own address. */
  renderer(): Renderer;
  metaUrl(): string;
  onWarning(message: string): void;
}

/** One action, as policies see it. */
export interface Action {
  verb: string;
  /** What it is besides: a change of how many instances run is `scale`, and an update (D-125). A rule for both takes it for `verb`. */
  also?: string;
  /** What it is done to: as a create or update leaves it, as it is before a deletion or a move. */
  record: StoredResource;
  /** Of a move: what it would make elsewhere. The policies there apply as well. */
  copy?: StoredResource;
  /** Of a move: where it leads, told to events (D-126). */
  target?: { provider_id: Uuid } | { target_env_id: Uuid };
}

/** What an action brings into the world, and takes out of it. */
interface Balance {
  added?: readonly StoredResource[];
  removed?: readonly StoredResource[];
}

/** Applies the rules of the policies at and above a resource: limits before an action, events around it (D-121..D-127). */
export class Policies {
  readonly #options: PoliciesOptions;
  /** By lambda, the end of the last event it was told of. */
  readonly #turns = new Map<Uuid, Promise<void>>();

  constructor(options: PoliciesOptions) {
    this.#options = options;
  }

  /** Throws 409 with the predicate when a strict limit rule would be violated by what results (D-122). */
  limit(action: Action, balance: Balance): void {
    const { record: subject, copy: record = subject } = action;
    const { noun } = typeOf(record);
    const rules = this.#rulesFor(action, 'pre', LIMIT_RULE);
    if (rules.length === 0) return;
    // As a read would show it: a provider with its name.
    const shown = { name: record.name, properties: this.#options.renderer().properties(record) };
    for (const { rule, node, verb } of rules) {
      const count = (word: TypeWord) => this.#countAfter(node, word, balance);
      if (limitHolds(rule, { noun, record: shown, count })) continue;
      const message = `limit rule '${rule.name}' would be violated: ${explainLimit(rule)}`;
      if (rule.properties.strict !== false) throw new PlatformError(409, message);
      this.#options.onWarning(`${message} (${noun}.${verb} of '${record.name}' went on: the rule is not strict)`);
    }
  }

  /** Says in the log what of a rule will never come to anything (D-121). */
  explain(rule: StoredResource): void {
    const idle = neverEmitted(rule);
    if (idle.length > 0)
      this.#options.onWarning(`rule '${rule.name}' is kept, but nothing is ever asked or told of ${idle.join(', ')}`);
  }

  /** Does a rule keep the creation of this record from reaching any engine (D-127)? */
  suppresses(record: StoredResource): boolean {
    return this.#rulesFor({ verb: 'create', record }, 'pre').some(({ rule }) =>
      suppresses(rule, `${typeOf(record).noun}.create.pre`),
    );
  }

  /**
   * Invokes the lambdas of the event rules for an action, now for the phase before it; what it returns does so for the
   * phase after it. Neither waits for a lambda, nor can a lambda's failure change the action (D-124).
   *
   * @param except a rule that has another part to play (D-132)
   * @returns to be called once the action is done, with what it made if that is another record
   */
  announce(act: Act, action: Action, except?: StoredResource): (made?: StoredResource) => void {
    if (!isAnnounced(typeOf(action.record).noun)) return () => {};
    // Rules and record are read before the action: a deletion may take them along.
    const events = (phase: Phase) =>
      this.#rulesFor(action, phase, EVENT_RULE)
        .filter(({ rule }) => rule.id !== except?.id)
        .map(({ rule, verb }) => ({ rule, event: this.#event(act, { ...action, verb }, phase, rule) }));
    const after = events('post');
    for (const { rule, event } of events('pre')) this.#send(rule, event);
    return (made) => {
      for (const { rule, event } of after) {
        this.#send(rule, made ? { ...event, resource: this.#options.renderer().record(made) } : event);
      }
    };
  }

  /**
   * The oldest event rule in a policy of that very environment that takes a move over (D-132).
   *
   * @param verb `migrate` or `promote`
   */
  mover(verb: string, resource: StoredResource, environment: StoredResource): StoredResource | undefined {
    const action = `${typeOf(resource).noun}.${verb}`;
    return this.#rulesAt(environment)
      .filter(
        (rule) =>
          rule.type === EVENT_RULE && matchedActions(rule).some((one) => one === action || one === `${action}.pre`),
      )
      .sort((a, b) => a.created.at.localeCompare(b.created.at))[0];
  }

  /** Lets a rule's lambda do a move; resolves when its invocation has ended, throws when it failed. */
  async move(act: Act, action: Action, rule: StoredResource): Promise<void> {
    await this.#invoke(rule, this.#event(act, action, 'pre', rule), 'move');
  }

  /**
   * The rules that match an action in a phase, each with the node whose policy has it, the nearest first (D-121), and what the
   * action is to it.
   */
  #rulesFor(
    { verb, also, record, copy }: Action,
    phase: Phase,
    type?: string,
  ): { rule: StoredResource; node: StoredResource; verb: string }[] {
    const { view } = this.#options;
    const { noun } = typeOf(record);
    const verbs = [verb, ...(also === undefined ? [] : [also])];
    const verbFor = (rule: StoredResource) => {
      const matched = type === undefined || rule.type === type ? matchedActions(rule) : [];
      return verbs.find((one) => matched.includes(`${noun}.${one}`) || matched.includes(`${noun}.${one}.${phase}`));
    };
    const nodes = new Set([...lineage(view, record), ...(copy ? lineage(view, copy) : [])]);
    return [...nodes].flatMap((node) =>
      this.#rulesAt(node).flatMap((rule) => {
        const matchedVerb = verbFor(rule);
        return matchedVerb === undefined ? [] : [{ rule, node, verb: matchedVerb }];
      }),
    );
  }

  #rulesAt(node: StoredResource): StoredResource[] {
    const { view, invoker } = this.#options;
    if (!invoker) return [];
    return view.children(node.id, 'policies').flatMap((policy) => [...view.children(policy.id, 'rules')]);
  }

  /** How many of a word there would be below a node once the action is done (D-123). */
  #countAfter(node: StoredResource, word: TypeWord, { added = [], removed = [] }: Balance): number {
    const { view } = this.#options;
    const of = (records: readonly StoredResource[]) =>
      records.filter((one) => typeOf(one).word === word && [...lineage(view, one)].some(({ id }) => id === node.id));
    return countBelow(view, node, word) + of(added).length - of(removed).length;
  }

  /** The event document of D-126. */
  #event(act: Act, { verb, record, target }: Action, phase: Phase, rule: StoredResource): JsonObject {
    const { view, metaUrl } = this.#options;
    const renderer = this.#options.renderer();
    const action = `${typeOf(record).noun}.${verb}.${phase}`;
    const organization = enclosing(view, record, ORGANIZATION) ?? view.root;
    const workspace = enclosing(view, record, WORKSPACE);
    const environment = enclosing(view, record, ENVIRONMENT);
    const policy = view.find(rule.parent ?? '');
    const user = view.find(act.caller.userId);
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
      args: act.args ?? {},
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
