import type { StreamListener } from '../../api/event-stream.ts';
import { ValueStore } from '../../value-store.ts';

/** A line as `GET /inspect/logs/{id}/stream` gives it. */
export interface LogLine {
  at: string;
  stream: 'stdout' | 'stderr';
  text: string;
  instance?: string;
  /** Counts up; a line keeps its number when older ones are removed. */
  key: number;
}

export interface LogState {
  connection: 'connecting' | 'live' | 'away';
  /** The reason that the log is unavailable, in the server's words. */
  reason: string | undefined;
  /** The newest, oldest first. */
  lines: readonly LogLine[];
  /** Lines before these have gone before they could be read. */
  hasGap: boolean;
}

export interface LogFeedOptions {
  /** Listens to the stream; the returned function ends that. */
  listen(listener: StreamListener): () => void;
  /** The stream was refused: what does the server say? Undefined when nothing is wrong any more. */
  findRefusal(): Promise<string | undefined>;
}

const MAX_LINES = 10_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const TERMINAL_CODES = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** A line without the codes that colour it in a terminal. */
const plain = (text: string) => (text.includes('\u001b') ? text.replace(TERMINAL_CODES, '') : text);

/** A log while it is shown: existing lines, then new ones. */
export class LogFeed {
  readonly state = new ValueStore<LogState>({ connection: 'connecting', reason: undefined, lines: [], hasGap: false });
  readonly #options: LogFeedOptions;
  #end: (() => void) | undefined;
  #lastKey = 0;

  constructor(options: LogFeedOptions) {
    this.#options = options;
  }

  start(): void {
    this.#end = this.#options.listen({
      onOpen: () => this.#change({ connection: 'live', reason: undefined }),
      // The server's own words for a line; see its OpenAPI document.
      onEvent: ({ data }) => this.#add(JSON.parse(data) as { lines: Omit<LogLine, 'key'>[]; hasGap: boolean }),
      onEnd: (isRefused) => {
        this.#change({ connection: 'away' });
        if (isRefused) void this.#options.findRefusal().then((reason) => this.#change({ reason }));
      },
    });
  }

  stop(): void {
    this.#end?.();
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

  #change(change: Partial<LogState>): void {
    this.state.set({ ...this.state.value, ...change });
  }
}
