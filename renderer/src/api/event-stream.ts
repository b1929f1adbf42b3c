import { sessionHeaders } from './window-key.ts';

const [CONNECTING, OPEN, CLOSED] = [0, 1, 2];
/** Until the server says otherwise. */
const RETRY_MS = 3_000;

/** One event as it is told to those who listen. */
export interface StreamEvent {
  data: string;
  /** Of this event, or of the last one that had an id. */
  lastEventId: string;
}

/**
 * Server-sent events as EventSource gives them, which cannot send the key of the session. A line that breaks is tried again with
 * the id of the last event; an answer that is no stream ends it.
 */
export class EventStream {
  readyState = CONNECTING;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  readonly #address: string;
  readonly #listeners = new Map<string, (event: StreamEvent) => void>();
  readonly #abort = new AbortController();
  #lastId = '';
  #retryMs = RETRY_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(address: string) {
    this.#address = address;
    void this.#connect();
  }

  /** One listener an event name. */
  addEventListener(name: string, listener: (event: StreamEvent) => void): void {
    this.#listeners.set(name, listener);
  }

  close(): void {
    this.readyState = CLOSED;
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  async #connect(): Promise<void> {
    try {
      const response = await fetch(this.#address, {
        headers: {
          Accept: 'text/event-stream',
          ...sessionHeaders(),
          ...(this.#lastId !== '' && { 'Last-Event-ID': this.#lastId }),
        },
        cache: 'no-store',
        signal: this.#abort.signal,
      });
      const isStream = response.ok && response.headers.get('Content-Type')?.startsWith('text/event-stream');
      if (!isStream || !response.body) {
        this.close();
        this.onerror?.();
        return;
      }
      this.readyState = OPEN;
      this.onopen?.();
      await this.#read(response.body);
    } catch {
      // The line broke, or it was closed.
    }
    if (this.readyState === CLOSED) return;
    this.readyState = CONNECTING;
    this.#timer = setTimeout(() => void this.#connect(), this.#retryMs);
    this.onerror?.();
  }

  async #read(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    let fields: string[] = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.readyState === CLOSED) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line !== '') fields.push(line);
        else {
          this.#take(fields);
          fields = [];
        }
      }
    }
  }

  /** The lines of one event. */
  #take(lines: readonly string[]): void {
    let name = 'message';
    const data: string[] = [];
    for (const line of lines) {
      const at = line.indexOf(':');
      const value = line.slice(at + 1).replace(/^ /, '');
      const field = line.slice(0, at);
      if (field === 'event') name = value;
      else if (field === 'data') data.push(value);
      else if (field === 'id') this.#lastId = value;
      else if (field === 'retry') this.#retryMs = Number(value);
    }
    if (data.length > 0 && this.readyState !== CLOSED) {
      this.#listeners.get(name)?.({ data: data.join('\n'), lastEventId: this.#lastId });
    }
  }
}
