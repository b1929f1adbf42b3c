import { errorMonitor } from 'node:events';
import type { Socket } from 'node:net';
import type { OutboundCalls } from './outbound-calls.ts';
import type { OutboundConnections } from './outbound-connections.ts';
import { sniff } from './stream-hooks.ts';
import { headerIn } from './trace-headers.ts';

/** The start of a request whose head is not complete; `target` may be cut off. */
export type OpenHead = { method: string; target: string } | undefined;

/** The first line, or its beginning. Commands of mail and FTP look like it, but have no version. */
const REQUEST_START = /^[A-Z-]{3,20} [^ \r\n]([^\r\n]* HTTP\/|[^\r\n]*$)/;
/** Clients request a path or a whole address. Anything else can be the rest of a body, or of another protocol. */
const HEAD_START = /^([A-Z-]{3,20}) (?=[/hH]|$)(\S*)/;

/** Reports the HTTP/1 traffic of a connection above TLS, and ignores other protocols from their first byte. The result returns the head that is partly written. */
export function sniffSocket(socket: Socket, calls: OutboundCalls, connections: OutboundConnections): () => OpenHead {
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
        calls.onTunnel(socket);
        return;
      }
      // No HTTP after all: nothing more is known of what was under way.
      isOff = true;
      if (wire) wire.close();
      else if (!isTunnel) connections.use(socket);
    }
  };
  sniff(socket, {
    outgoing: (part) => {
      if (isOff && !wire && !isTunnel) return connections.use(socket);
      guard(() => {
        const bytes = part();
        const start = bytes.toString('latin1', 0, 64);
        if (!wire && !REQUEST_START.test(start)) throw new Error('no HTTP');
        // A tunnel carries HTTP only with the first request in it.
        if (!wire && !start.startsWith('CONNECT ')) connections.markHttp(socket);
        wire ??= readWire(socket, calls);
        wire.send(bytes);
      });
    },
    received: (bytes) => {
      if (wire) return guard(() => (bytes === null ? wire?.finish() : wire?.receive(bytes)));
      // In a tunnel, the proxy speaks first.
      if (isOff || isTunnel || bytes === null) return;
      // HTTP servers do not speak first.
      isOff = true;
      connections.use(socket);
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

function readWire(socket: Socket, calls: OutboundCalls) {
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
    open.push({ method: verb, call: calls.recordRequest(socket, verb, url, headers) });
  };
  requests[kOnBody] = (part) => {
    const exchange = open.at(-1);
    if (exchange) calls.takeBody(exchange.call, 'request', part, requestHeaders);
  };
  requests[kOnMessageComplete] = () => {
    // As: the parser's declarations leave out where it is.
    const { offset, end } = requests as unknown as { offset: number; end: number };
    const contentLength = Number(headerIn(requestHeaders, 'content-length'));
    const request = open.at(-1);
    // Clients that write the next request at once, before a response, do so in a write of its own.
    if (request && contentLength > 0 && end > offset)
      calls.reportTruncated(request.call, contentLength, contentLength + end - offset);
  };
  answers[kOnHeadersComplete] = ({ statusCode, headers }) => {
    const [exchange] = open;
    if (!exchange || (statusCode < 200 && statusCode !== 101)) return;
    answerHeaders = headers;
    calls.report(exchange.call, { status: statusCode });
    if (statusCode === 101) {
      open.shift();
      calls.report(exchange.call, { ended: true });
      throw new Error('what follows is no HTTP');
    }
    // To a HEAD no body comes, whatever the headers say.
    return exchange.method === 'HEAD' ? 1 : undefined;
  };
  answers[kOnBody] = (part) => {
    const [exchange] = open;
    if (exchange) calls.takeBody(exchange.call, 'response', part, answerHeaders);
  };
  answers[kOnMessageComplete] = () => {
    // As: the parser's declarations leave out what it has read. After an interim answer the real one comes.
    const { statusCode = 0 } = (answers as { info?: { statusCode?: number } }).info ?? {};
    if (statusCode >= 100 && statusCode < 200) return;
    const exchange = open.shift();
    if (exchange) calls.report(exchange.call, { ended: true });
  };
  return {
    send: (bytes: Buffer) => required(requests.execute(bytes)),
    receive: (bytes: Buffer) => required(answers.execute(bytes)),
    finish: () => void answers.finish(),
    close(error?: unknown): void {
      for (const { call } of open.splice(0)) calls.reportLost(call, error);
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
