import { errorMonitor } from 'node:events';
import type { Socket } from 'node:net';
import { sniff } from './stream-hooks.ts';
import { headerIn } from './trace-headers.ts';

export interface WireWatcher {
  /** The connection carries HTTP; a tunnel does so only with the first request in it. */
  http(): void;
  /** Bytes of another protocol are sent, or received first. */
  otherBytes(): void;
  /** The connection is a tunnel from now on: a proxy connects it to another host. */
  tunnel(): void;
  /** A request's head is about to be sent. What is returned represents the call from now on. */
  requestStarted(method: string, target: string, headers: string[]): object;
  /** One more part of a body; of a compressed one as it goes over the wire. `headers`: names and values alternating. */
  body(call: object, side: 'request' | 'response', part: Uint8Array, headers: string[]): void;
  /** The request's Content-Length is smaller than the body that was written. */
  truncated(call: object, contentLength: number, bodyBytes: number): void;
  answered(call: object, status: number): void;
  ended(call: object): void;
  /** Nothing more will come; `error`: of the connection, if it had one. */
  lost(call: object, error: unknown): void;
}

/** The start of a request whose head is not complete; `target` may be cut off. */
export type OpenHead = { method: string; target: string } | undefined;

/** The first line, or its beginning. Commands of mail and FTP look like it, but have no version. */
const REQUEST_START = /^[A-Z-]{3,20} [^ \r\n]([^\r\n]* HTTP\/|[^\r\n]*$)/;
/** Clients request a path or a whole address. Anything else can be the rest of a body, or of another protocol. */
const HEAD_START = /^([A-Z-]{3,20}) (?=[/hH]|$)(\S*)/;

/** Observes the HTTP/1 traffic of a connection above TLS, and ignores other protocols from their first byte. The result returns the head that is partly written. */
export function sniffSocket(socket: Socket, watcher: WireWatcher): () => OpenHead {
  let wire: ReturnType<typeof readWire> | undefined;
  let isOff = false;
  let isTunnel = false;
  const guard = (read: () => void): void => {
    if (isOff) return;
    try {
      read();
    } catch (reason) {
      if (reason instanceof TunnelStart) {
        wire = undefined;
        isTunnel = true;
        watcher.tunnel();
        return;
      }
      // No HTTP after all: nothing more is known of what was under way.
      isOff = true;
      if (wire) wire.close();
      else if (!isTunnel) watcher.otherBytes();
    }
  };
  sniff(socket, {
    outgoing: (part) => {
      if (isOff && !wire && !isTunnel) return watcher.otherBytes();
      guard(() => {
        const bytes = part();
        const start = bytes.toString('latin1', 0, 64);
        if (!wire && !REQUEST_START.test(start)) throw new Error('no HTTP');
        if (!wire && !start.startsWith('CONNECT ')) watcher.http();
        wire ??= readWire(watcher);
        wire.send(bytes);
      });
    },
    received: (bytes) => {
      if (wire) return guard(() => (bytes === null ? wire?.finish() : wire?.receive(bytes)));
      // In a tunnel, the proxy speaks first.
      if (isOff || isTunnel || bytes === null) return;
      // HTTP servers do not speak first.
      isOff = true;
      watcher.otherBytes();
    },
  });
  let error: unknown;
  // As: Node types the events of sockets by their names only.
  (socket as NodeJS.EventEmitter).on(errorMonitor, (thrown: unknown) => {
    error = thrown;
  });
  socket.once('close', () => wire?.close(error));
  return () => (isOff ? undefined : wire?.openHead());
}

/** The request is one to a proxy. */
class TunnelStart extends Error {}

function readWire(watcher: WireWatcher) {
  // Here, not at the top: a lambda that makes no call needs none.
  const { HTTPParser } = require('http-parser-js') as typeof import('http-parser-js');
  // It counts what ends a body among the headers to come.
  Object.assign(HTTPParser, { maxHeaderSize: Number.POSITIVE_INFINITY });
  const { kOnHeadersComplete, kOnBody, kOnMessageComplete } = HTTPParser;
  const requests = new HTTPParser(HTTPParser.REQUEST);
  const answers = new HTTPParser(HTTPParser.RESPONSE);
  const open: { call: object; method: string }[] = [];
  let requestHeaders: string[] = [];
  let answerHeaders: string[] = [];
  requests[kOnHeadersComplete] = ({ method, url, headers }) => {
    const verb = HTTPParser.methods[method] ?? '';
    if (verb === 'CONNECT') throw new TunnelStart();
    requestHeaders = headers;
    open.push({ method: verb, call: watcher.requestStarted(verb, url, headers) });
  };
  requests[kOnBody] = (part) => {
    const exchange = open.at(-1);
    if (exchange) watcher.body(exchange.call, 'request', part, requestHeaders);
  };
  requests[kOnMessageComplete] = () => {
    // As: the parser's declarations leave out where it is.
    const { offset, end } = requests as unknown as { offset: number; end: number };
    const contentLength = Number(headerIn(requestHeaders, 'content-length'));
    const request = open.at(-1);
    // Clients that write the next request at once, before a response, do so in a write of its own.
    if (request && contentLength > 0 && end > offset)
      watcher.truncated(request.call, contentLength, contentLength + end - offset);
  };
  answers[kOnHeadersComplete] = ({ statusCode, headers }) => {
    const [exchange] = open;
    if (!exchange || (statusCode < 200 && statusCode !== 101)) return;
    answerHeaders = headers;
    watcher.answered(exchange.call, statusCode);
    if (statusCode === 101) {
      open.shift();
      watcher.ended(exchange.call);
      throw new Error('what follows is no HTTP');
    }
    // To a HEAD no body comes, whatever the headers say.
    return exchange.method === 'HEAD' ? 1 : undefined;
  };
  answers[kOnBody] = (part) => {
    const [exchange] = open;
    if (exchange) watcher.body(exchange.call, 'response', part, answerHeaders);
  };
  answers[kOnMessageComplete] = () => {
    // As: the parser's declarations leave out what it has read. After an interim answer the real one comes.
    const { statusCode = 0 } = (answers as { info?: { statusCode?: number } }).info ?? {};
    if (statusCode >= 100 && statusCode < 200) return;
    const exchange = open.shift();
    if (exchange) watcher.ended(exchange.call);
  };
  return {
    send: (bytes: Buffer) => required(requests.execute(bytes)),
    receive: (bytes: Buffer) => required(answers.execute(bytes)),
    finish: () => void answers.finish(),
    close(error?: unknown): void {
      for (const { call } of open.splice(0)) watcher.lost(call, error);
    },
    openHead(): OpenHead {
      // As: the parser's declarations leave out where it is.
      const { state, line, info } = requests as unknown as {
        state: string;
        line: string;
        info?: { method: number; url: string };
      };
      if (state === 'HEADER' && info) return { method: HTTPParser.methods[info.method] ?? '', target: info.url };
      const [, method, target] = (state === 'REQUEST_LINE' && HEAD_START.exec(line)) || [];
      return method !== undefined && target !== undefined ? { method, target } : undefined;
    },
  };
}

function required(result: number | Error): void {
  if (result instanceof Error) throw result;
}
