import { PlatformError } from '../model/errors.ts';
import { ENVIRONMENT, enclosing, fqonOf, lineage, ORGANIZATION, WORKSPACE } from '../model/hierarchy.ts';
import type { Uuid } from '../model/ids.ts';
import type { LambdaInvoker } from '../model/invocation.ts';
import type { JsonObject } from '../model/json.ts';
import { EVENT_RULE, explainLimit, LIMIT_RULE, limitHolds, matchedActions, suppresses } from '../model/policy-rules.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';
import type { Act } from './act.ts';
import type { Renderer } from './renderer.ts';

/** The nouns whose actions are events (D-125). */
const ANNOUNCED = new Set([
  'container',
  'lambda',
  'api',
  'apiendpoint',
  'environment',
  'workspace',
  'provider',
  'secret',
  'volume',
]);

type Phase = 'pre' | 'post';

export interface PoliciesOptions {
  view: WorldView;
  invoker: LambdaInvoker;
  /** Renders for readers that reach us by our own address. */
  renderer(): Renderer;
  metaUrl(): string;
  newId(): Uuid;
  onWarning(message: string): void;
}

/** Where a resource is being moved to, told to events (D-126). */
export interface MoveTarget {
  provider_id?: Uuid;
  target_env_id?: Uuid;
}

/** Applies the rules of the policies at and above a resource: limits before an action, events around it (D-121..D-127). */
export class Policies {
  readonly #options: PoliciesOptions;

  constructor(options: PoliciesOptions) {
    this.#options = options;
  }

  /** Throws 409 with the predicate when a strict limit rule would be violated by what results (D-122). */
  limit(verb: string, record: StoredResource, before?: StoredResource): void {
    for (const { rule, node } of this.#rulesFor(record, verb, 'pre', LIMIT_RULE)) {
      const count = (word: TypeWord) => this.#countAfter(node, word, verb, record, before);
      if (limitHolds(rule, { noun: typeOf(record).noun, record, count })) continue;
      const message = `limit rule '${rule.name}' would be violated: ${explainLimit(rule)}`;
      if (rule.properties.strict !== false) throw new PlatformError(409, message);
      this.#options.onWarning(
        `${message} (${typeOf(record).noun}.${verb} of '${record.name}' went on: the rule is not strict)`,
      );
    }
  }

  /** Does a rule keep the creation of this record from reaching any engine (D-127)? */
  suppresses(record: StoredResource): boolean {
    return [...this.#rulesFor(record, 'create', 'pre')].some(({ rule }) =>
      suppresses(rule, `${typeOf(record).noun}.create.pre`),
    );
  }

  /**
   * Invokes the lambdas of the event rules for an action, now for the phase before it; what it returns does so for the
   * phase after it. Neither waits for a lambda, nor can a lambda's failure change the action (D-124).
   *
   * @param except rules that have another part to play (D-132)
   */
  announce(
    act: Act,
    verb: string,
    record: StoredResource,
    target: MoveTarget = {},
    except?: StoredResource,
  ): () => void {
    if (!ANNOUNCED.has(typeOf(record).noun)) return () => {};
    // The rules are read before the action: a deletion may take them along.
    const rulesOf = (phase: Phase) =>
      [...this.#rulesFor(record, verb, phase, EVENT_RULE)]
        .map(({ rule }) => rule)
        .filter((rule) => rule.id !== except?.id);
    const after = rulesOf('post').map((rule) => ({
      rule,
      event: this.#event(act, verb, 'post', record, rule, target),
    }));
    for (const rule of rulesOf('pre')) this.#send(rule, this.#event(act, verb, 'pre', record, rule, target));
    return () => {
      for (const { rule, event } of after) this.#send(rule, { ...event, resource: this.#shown(record) });
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

  /** Lets a rule's lambda do a move; resolves when its invocation has ended, whatever came of it. */
  async move(act: Act, verb: string, record: StoredResource, rule: StoredResource, target: MoveTarget): Promise<void> {
    await this.#invoke(rule, this.#event(act, verb, 'pre', record, rule, target), 'move');
  }

  *#rulesFor(
    record: StoredResource,
    verb: string,
    phase: Phase,
    type?: string,
  ): Generator<{ rule: StoredResource; node: StoredResource }> {
    const action = `${typeOf(record).noun}.${verb}`;
    for (const node of lineage(this.#options.view, record)) {
      for (const rule of this.#rulesAt(node)) {
        const matches = matchedActions(rule).some((one) => one === action || one === `${action}.${phase}`);
        if (matches && (type === undefined || rule.type === type)) yield { rule, node };
      }
    }
  }

  #rulesAt(node: StoredResource): StoredResource[] {
    const { view } = this.#options;
    return view.children(node.id, 'policies').flatMap((policy) => [...view.children(policy.id, 'rules')]);
  }

  /** How many of a word there would be below a node once the action is done (D-123). */
  #countAfter(
    node: StoredResource,
    word: TypeWord,
    verb: string,
    record: StoredResource,
    before?: StoredResource,
  ): number {
    const { view } = this.#options;
    const countBelow = (at: StoredResource): number =>
      view.children(at.id, word).length +
      view
        .children(at.id)
        .filter(
          (child) =>
            child.type === ORGANIZATION ||
            child.type === WORKSPACE ||
            child.type === ENVIRONMENT ||
            typeOf(child).word === 'apis',
        )
        .reduce((sum, child) => sum + countBelow(child), 0);
    const change = typeOf(record).word !== word ? 0 : verb === 'delete' ? -1 : before || verb !== 'create' ? 0 : 1;
    return countBelow(node) + change;
  }

  /** The event document of D-126. */
  #event(
    act: Act,
    verb: string,
    phase: Phase,
    record: StoredResource,
    rule: StoredResource,
    target: MoveTarget,
  ): JsonObject {
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
      resource: this.#shown(record),
      rule: renderer.link(rule),
      ...(policy && { policy: renderer.link(policy) }),
      ...(user && { user: renderer.link(user) }),
      args: act.args ?? {},
    };
  }

  #shown(record: StoredResource): JsonObject {
    return this.#options.renderer().record(this.#options.view.find(record.id) ?? record);
  }

  #send(rule: StoredResource, event: JsonObject): void {
    this.#invoke(rule, event, 'event').catch((fault: unknown) => {
      this.#options.onWarning(`event rule '${rule.name}' could not invoke its lambda: ${String(fault)}`);
    });
  }

  async #invoke(rule: StoredResource, event: JsonObject, trigger: 'event' | 'move'): Promise<void> {
    const { invoker, newId } = this.#options;
    const lambdaId = typeof rule.properties.lambda === 'string' ? rule.properties.lambda : '';
    const invocation = await invoker.invoke(lambdaId, {
      executionId: newId(),
      trigger,
      body: Buffer.from(JSON.stringify(event)),
      context: { method: 'POST', path: '', params: {}, headers: {}, creds: '', user: null, httpAware: false },
    });
    if (!invocation.outcome.ok) {
      this.#options.onWarning(`event rule '${rule.name}': lambda ${lambdaId} failed: ${invocation.outcome.message}`);
    }
  }
}
