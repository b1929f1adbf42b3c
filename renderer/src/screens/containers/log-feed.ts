import type { Source } from '../../api/live-stream.ts';
import { ValueStore } from '../../value-store.ts';

/** A line as `GET /inspect/logs/{id}/stream` gives it. */
export interface LogLine {
  at: string;
  stream: 'stdout' | 'stderr';
  text: string;
  /** Counts up; a line keeps its own when older ones go. */
  key: number;
}

export interface LogState {
  connection: 'connecting' | 'live' | 'away';
  /** Why it is away, in the server's words. */
  reason: string | undefined;
  /** The newest, oldest first. */
  lines: readonly LogLine[];
  /** Lines before these have gone before they could be read. */
  hasGap: boolean;
}

export interface LogFeedOptions {
  /** Opens the stream; `after` is the id of the last piece that arrived. */
  open(after: string | undefined): Source;
  /** The stream was refused: what does the server say? Undefined when nothing is wrong any more. */
  whyRefused(): Promise<string | undefined>;
}

/** `EventSource.CLOSED`. */
const CLOSED = 2;
const RETRY_MS = 3_000;
const MAX_LINES = 10_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const TERMINAL_CODES = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** A line without the codes that colour it in a terminal. */
const plain = (text: string) => (text.includes('\u001b') ? text.replace(TERMINAL_CODES, '') : text);

/** A log while somebody looks at it: what it holds, then what comes. A stream that breaks goes on where it broke. */
export class LogFeed {
  readonly state = new ValueStore<LogState>({ connection: 'connecting', reason: undefined, lines: [], hasGap: false });
  readonly #options: LogFeedOptions;
  #source: Source | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #lastId: string | undefined;
  #lastKey = 0;

  constructor(options: LogFeedOptions) {
    this.#options = options;
  }

  start(): void {
    const source = this.#options.open(this.#lastId);
    this.#source = source;
    source.onopen = () => this.#change({ connection: 'live', reason: undefined });
    source.onerror = () => this.#onError(source);
    source.addEventListener('lines', ({ data, lastEventId }) => {
      if (lastEventId !== '') this.#lastId = lastEventId;
      // The server's own words for a line; see its OpenAPI document.
      this.#add(JSON.parse(data) as { lines: Omit<LogLine, 'key'>[]; hasGap: boolean });
    });
  }

  stop(): void {
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#source = undefined;
  }

  #add({ lines, hasGap }: { lines: readonly Omit<LogLine, 'key'>[]; hasGap: boolean }): void {
    const { state } = this;
    const fresh = lines.map((line): LogLine => ({ ...line, text: plain(line.text), key: ++this.#lastKey }));
    const all = [...state.value.lines, ...fresh];
    const isTooMany = all.length > MAX_LINES;
    this.#change({
      connection: 'live',
      lines: isTooMany ? all.slice(-MAX_LINES) : all,
      hasGap: state.value.hasGap || hasGap,
    });
  }

  #onError(source: Source): void {
    if (source !== this.#source) return;
    this.#change({ connection: 'away' });
    // A broken line is mended by the browser itself; a refusal is not.
    if (source.readyState !== CLOSED) return;
    source.close();
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.start(), RETRY_MS);
    void this.#options.whyRefused().then((reason) => {
      if (this.#source === source) this.#change({ reason });
    });
  }

  #change(change: Partial<LogState>): void {
    this.state.set({ ...this.state.value, ...change });
  }
}
