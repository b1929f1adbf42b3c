import type { OutboundRule } from '../../../model/outbound-rule.ts';

/** Counts the calls of all lambdas that outbound rules with `times` or `after` match, each from the last change of the rule. */
export class RuleCalls {
  readonly #numbers = new Map<string, number>();
  #rules = new Map<string, string>();

  next(ruleId: string): number {
    const number = (this.#numbers.get(ruleId) ?? 0) + 1;
    if (this.#rules.has(ruleId)) this.#numbers.set(ruleId, number);
    return number;
  }

  /** Starts to count from 0 for rules that are new or have changed. */
  use(rules: readonly OutboundRule[]): void {
    const current = new Map(rules.map((rule) => [rule.id, JSON.stringify(rule)]));
    for (const [id, text] of this.#rules) if (current.get(id) !== text) this.#numbers.delete(id);
    this.#rules = current;
  }
}
