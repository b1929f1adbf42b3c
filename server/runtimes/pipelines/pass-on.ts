// biome-ignore lint/style/noRestrictedImports: passes on what a job sends, for as long as the job runs
import { type IncomingMessage, type RequestOptions, request, type ServerResponse } from 'node:http';
import { type Duplex, pipeline, type Readable, type Writable } from 'node:stream';
import { json } from 'node:stream/consumers';

const ASK_TIMEOUT_MS = 10_000;
/** Headers of responses that name addresses to follow. */
const FOLLOWED = ['location', 'link'];

/**
 * The limits of servers for jobs: none, because uploads take as long as they take, and a client may call again at any
 * time.
 */
export const NO_TIME_LIMITS = { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 };

interface PassOnOptions {
  /** Applied to addresses in the headers of the response. */
  translate?(text: string): string;
  /** In place of the body of the request. */
  body?: Buffer | undefined;
  /** Copies the body of the request to the engine, in place of passing it on as it is. */
  copy?: ((source: Readable, target: Writable) => Promise<void>) | undefined;
}

/** Passes a request on, and its response back. */
export function passOn(
  req: IncomingMessage,
  res: ServerResponse,
  options: RequestOptions,
  { translate = (text) => text, body, copy }: PassOnOptions,
): void {
  // Not to be closed with its response: that loses the response if the end of the request is still being written.
  const { expect: _expect, ...requestHeaders } = Object(options.headers);
  const headers = { ...requestHeaders, connection: 'keep-alive' };
  const outgoing = request({ ...options, headers }, (answer) => {
    const { connection: _connection, 'keep-alive': _keepAlive, ...responseHeaders } = answer.headers;
    const changed = Object.entries(responseHeaders).map(([name, value]) => [
      name,
      FOLLOWED.includes(name) && typeof value === 'string' ? translate(value) : value,
    ]);
    res.writeHead(answer.statusCode ?? 502, Object.fromEntries(changed));
    // What a command follows, such as a log, comes in pieces with pauses.
    res.flushHeaders();
    pipeline(answer, res, () => undefined);
  });
  outgoing.on('error', (failure) => {
    const { message } = failure;
    // Its sender may read the response only after it.
    req.resume();
    if (res.headersSent) return;
    const { status } = Object(failure);
    const reason = status === undefined ? `the job's request could not be passed on: ${message}` : message;
    // In the form in which a container engine gives its reasons.
    const text = JSON.stringify({ message: reason });
    res.writeHead(status ?? 502, { 'content-type': 'application/json' }).end(text);
  });
  res.once('close', () => outgoing.destroy());
  if (body) outgoing.end(body);
  else if (copy) copy(req, outgoing).catch((failure) => outgoing.destroy(failure));
  else req.pipe(outgoing);
}

interface UpgradeOptions {
  body?: Buffer;
  /** In place of passing on everything in both directions. */
  join?(socket: Duplex, engine: Duplex): void;
}

/** Passes on a request that turns its connection into another protocol; a body before that is part of it. */
export function passOnUpgrade(
  { socket, head }: { socket: Duplex; head: Buffer },
  options: RequestOptions,
  { body, join = joinBoth }: UpgradeOptions = {},
): void {
  const outgoing = request(options);
  socket.on('error', () => outgoing.destroy());
  outgoing.once('error', () => socket.destroy());
  outgoing.once('response', (answer) => {
    // It was refused: the connection ends with the response.
    socket.write(headOf(answer, { connection: 'close' }));
    pipeline(answer, socket, () => undefined);
  });
  outgoing.once('upgrade', (answer, other, rest) => {
    socket.write(headOf(answer, {}));
    if (rest.length > 0) other.unshift(rest);
    if (head.length > 0) socket.unshift(head);
    join(socket, other);
  });
  outgoing.end(body);
}

function joinBoth(socket: Duplex, engine: Duplex): void {
  pipeline(socket, engine, () => undefined);
  pipeline(engine, socket, () => undefined);
}

function headOf({ statusCode, statusMessage, headers }: IncomingMessage, more: Record<string, string>): string {
  const { 'transfer-encoding': _chunked, ...forwardedHeaders } = headers;
  const lines = Object.entries({ ...forwardedHeaders, ...more }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('')}\r\n`;
}

/** The JSON of a response; undefined unless it was successful. */
export function askEngine(options: RequestOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options, timeout: ASK_TIMEOUT_MS, agent: false }, (answer) => {
      json(answer).then((value) => resolve(answer.statusCode === 200 ? value : undefined), reject);
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error('the container engine does not respond')));
    outgoing.once('error', reject);
    outgoing.end();
  });
}
