import { errorMonitor } from 'node:events';
import type { Socket } from 'node:net';
import { sniff } from './sniff.ts';

export interface WireWatcher {
  /** A request's head is about to be sent. What is returned represents the call from now on. */
  asked(method: string, target: string, headers: string[]): object;
  /** One more part of a body; of a compressed one as it goes over the wire. `headers`: names and values alternating. */
  body(call: object, of: 'request' | 'response', part: Uint8Array, headers: string[]): void;
  answered(call: object, status: number): void;
  ended(call: object): void;
  /** Nothing more will come; `error`: of the connection, if it had one. */
  lost(call: object, error: unknown): void;
}

interface Exchange {
  call: object;
  method: string;
}

const REQUEST_START = /^[A-Z-]{3,20} [^ ]+ ?/;
const NO_HEADERS: string[] = [];

/**
 * Observes the HTTP/1 traffic of a connection above TLS, without changing the bytes. Other protocols (a database, HTTP/2, data after an
 * upgrade) are ignored from their first byte. The result tells whether the head of a POST is only partly written.
 */
export function sniffSocket(socket: Socket, watcher: WireWatcher): { isHeadOpen(): boolean } {
  let wire: Wire | undefined;
  let isOff = false;
  const guard = (read: () => void): void => {
    if (isOff) return;
    try {
      read();
    } catch {
      // No HTTP after all: nothing more is known of what was under way.
      isOff = true;
      wire?.close();
    }
  };
  sniff(socket, {
    sent: (part) =>
      guard(() => {
        const bytes = part();
        if (!wire && !REQUEST_START.test(bytes.toString('latin1', 0, 64))) throw new Error('no HTTP');
        wire ??= new Wire(watcher);
        wire.send(bytes);
      }),
    received: (bytes) => {
      if (wire) guard(() => (bytes === null ? wire?.finish() : wire?.receive(bytes)));
    },
  });
  let error: unknown;
  // As: Node types the events of sockets by their names only.
  (socket as NodeJS.EventEmitter).on(errorMonitor, (thrown: unknown) => {
    error = thrown;
  });
  socket.once('close', () => wire?.close(error));
  return { isHeadOpen: () => !isOff && wire?.isHeadOpen === true };
}

class Wire {
  readonly #watcher: WireWatcher;
  readonly #requests;
  readonly #answers;
  readonly #open: Exchange[] = [];

  constructor(watcher: WireWatcher) {
    this.#watcher = watcher;
    // Here, not at the top: a lambda that makes no call needs none.
    const { HTTPParser } = require('http-parser-js') as typeof import('http-parser-js');
    // It counts what ends a body among the headers to come.
    Object.assign(HTTPParser, { maxHeaderSize: Number.POSITIVE_INFINITY });
    const { kOnHeadersComplete, kOnBody, kOnMessageComplete } = HTTPParser;
    this.#requests = new HTTPParser(HTTPParser.REQUEST);
    this.#answers = new HTTPParser(HTTPParser.RESPONSE);
    let headersOf = { request: NO_HEADERS, response: NO_HEADERS };
    this.#requests[kOnHeadersComplete] = ({ method, url, headers }) => {
      const verb = HTTPParser.methods[method] ?? '';
      if (verb === 'CONNECT') throw new Error('what follows is not for the one who is asked');
      headersOf = { ...headersOf, request: headers };
      this.#open.push({ method: verb, call: watcher.asked(verb, url, headers) });
    };
    this.#requests[kOnBody] = (part) => {
      const asked = this.#open.at(-1);
      if (asked) watcher.body(asked.call, 'request', part, headersOf.request);
    };
    this.#answers[kOnHeadersComplete] = ({ statusCode, headers }) => {
      const [asked] = this.#open;
      if (statusCode === 101) throw new Error('what follows is no HTTP');
      if (!asked || statusCode < 200) return;
      headersOf = { ...headersOf, response: headers };
      watcher.answered(asked.call, statusCode);
      // To a HEAD no body comes, whatever the headers say.
      return asked.method === 'HEAD' ? 1 : undefined;
    };
    this.#answers[kOnBody] = (part) => {
      const [asked] = this.#open;
      if (asked) watcher.body(asked.call, 'response', part, headersOf.response);
    };
    this.#answers[kOnMessageComplete] = () => {
      // After an interim answer the real one comes.
      if (isInterim(this.#answers)) return;
      const asked = this.#open.shift();
      if (asked) watcher.ended(asked.call);
    };
  }

  get isHeadOpen(): boolean {
    // As: the parser's declarations leave out where it is.
    const { state, line, info } = this.#requests as unknown as {
      state: string;
      line: string;
      info?: { method?: number };
    };
    if (state === 'REQUEST_LINE') return line.startsWith('POST ');
    const { HTTPParser } = require('http-parser-js') as typeof import('http-parser-js');
    return state === 'HEADER' && HTTPParser.methods[info?.method ?? -1] === 'POST';
  }

  send(bytes: Buffer): void {
    required(this.#requests.execute(bytes));
  }

  receive(bytes: Buffer): void {
    required(this.#answers.execute(bytes));
  }

  finish(): void {
    this.#answers.finish();
  }

  close(error?: unknown): void {
    for (const { call } of this.#open.splice(0)) this.#watcher.lost(call, error);
  }
}

function required(result: number | Error): void {
  if (result instanceof Error) throw result;
}

/** As: the parser's declarations leave out what it has read. */
function isInterim(parser: object): boolean {
  const { statusCode = 0 } = (parser as { info?: { statusCode?: number } }).info ?? {};
  return statusCode >= 100 && statusCode < 200;
}
