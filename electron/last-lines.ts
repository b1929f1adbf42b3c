const MAX_LINE_LENGTH = 2_000;
/** Escape sequences for a terminal, such as colors. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const ESCAPES = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;

/** Keeps the last lines of a process's output. */
export class LastLines {
  readonly #max: number;
  #lines: string[] = [];
  #open = '';

  constructor(max: number) {
    this.#max = max;
  }

  add(text: string): void {
    const lines = (this.#open + text).replace(ESCAPES, '').split(/\r?\n/);
    this.#open = (lines.pop() ?? '').slice(0, MAX_LINE_LENGTH);
    this.#lines = [...this.#lines, ...lines.map((line) => line.slice(0, MAX_LINE_LENGTH))].slice(-this.#max);
  }

  all(): string[] {
    return this.#open ? [...this.#lines, this.#open].slice(-this.#max) : this.#lines;
  }
}
