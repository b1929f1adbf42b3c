export interface KeyBinding {
  /** `g h` is g, then h within a second; `mod+k` is Ctrl-K or Cmd-K; else the key as `KeyboardEvent.key` names it. */
  keys: string;
  does: string;
  run(): void;
  /** Its group in the help. Default: "This screen". */
  group?: string;
}

export interface KeyStroke {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  /** Is the focus in something that one types into? */
  isTyping: boolean;
  /** Is a dialog or a menu open? Then only keys with Ctrl or Cmd are ours. */
  isModal: boolean;
}

/** The time after `g` in which the second letter may come. */
const SEQUENCE_MS = 1000;

/**
 * Finds the binding that a key stroke means. The binding registered last wins, so that a screen can take a key for
 * itself. Single letters and signs do nothing while the user types, in a dialog, and when they are switched off;
 * Ctrl/Cmd keys always work.
 */
export class Keyboard {
  #bindings: KeyBinding[] = [];
  #first: { key: string; atMs: number } | undefined;
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** All bindings, the ones registered first first. */
  get bindings(): readonly KeyBinding[] {
    return this.#bindings;
  }

  /** Returns what takes it back. */
  add(bindings: readonly KeyBinding[]): () => void {
    this.#bindings = [...this.#bindings, ...bindings];
    return () => {
      this.#bindings = this.#bindings.filter((binding) => !bindings.includes(binding));
    };
  }

  find(stroke: KeyStroke, hasLetterKeys: boolean): KeyBinding | undefined {
    // Pressing Shift for the second letter is not the second letter.
    if (['Shift', 'Control', 'Meta', 'Alt'].includes(stroke.key)) return undefined;
    const first = this.#first;
    this.#first = undefined;
    if (stroke.altKey) return undefined;
    if (stroke.ctrlKey || stroke.metaKey) return this.#named(`mod+${stroke.key.toLowerCase()}`);
    if (stroke.isTyping || stroke.isModal) return undefined;
    if (stroke.key.length === 1 && !hasLetterKeys) return undefined;
    if (first && this.#nowMs() - first.atMs <= SEQUENCE_MS) {
      const second = this.#named(`${first.key} ${stroke.key}`);
      if (second) return second;
    }
    const single = this.#named(stroke.key);
    if (!single && this.#bindings.some(({ keys }) => keys.startsWith(`${stroke.key} `))) {
      this.#first = { key: stroke.key, atMs: this.#nowMs() };
    }
    return single;
  }

  #named(keys: string): KeyBinding | undefined {
    return this.#bindings.findLast((binding) => binding.keys === keys);
  }
}
