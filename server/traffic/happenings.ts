import { describeRule, type OutboundRule } from '../model/outbound-rule.ts';

const MAX_KEPT = 500;

/** Something besides commits that may be why calls go another way from then on. */
export interface Happening {
  atMs: number;
  kind: 'rules' | 'engine';
  /** What happened, in words. */
  text: string;
}

/** The newest changes of outbound rules and news of container engines since the platform started. */
export class Happenings {
  readonly #kept: Happening[] = [];
  readonly #engines = new Map<string, string>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Newest first. */
  since(fromMs: number): Happening[] {
    return this.#kept.filter(({ atMs }) => atMs >= fromMs).reverse();
  }

  sawRules(before: readonly OutboundRule[], after: readonly OutboundRule[]): void {
    const [were, are] = [before, after].map((rules) => rules.filter(({ enabled }) => enabled).map(describeRule));
    for (const text of are ?? []) if (!were?.includes(text)) this.#note('rules', `outbound rule on: ${text}`);
    for (const text of were ?? []) if (!are?.includes(text)) this.#note('rules', `outbound rule off: ${text}`);
  }

  /** Told again and again how an engine is; only what is new about it counts. */
  sawEngine({ address, state, reason }: { address: string; state: string; reason?: string }): void {
    if (this.#engines.get(address) === state) return;
    this.#engines.set(address, state);
    this.#note('engine', `container engine ${state}${reason === undefined ? '' : `: ${reason}`}`);
  }

  #note(kind: Happening['kind'], text: string): void {
    this.#kept.push({ atMs: this.#nowMs(), kind, text });
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
  }
}
