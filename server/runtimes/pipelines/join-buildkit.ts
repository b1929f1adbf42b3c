import {
  type ClientHttp2Session,
  connect,
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Refusal } from './engine-requests.ts';
import { type MadeImages, PROJECT_LABEL } from './made-images.ts';

const SOLVE = '/moby.buildkit.v1.Control/Solve';
const FRONTEND_SOLVE = '/moby.buildkit.v1.frontend.LLBBridge/Solve';
/** The calls of a build. Others show and remove builds and caches of the whole machine. */
const CALLS = new Set([
  SOLVE,
  FRONTEND_SOLVE,
  ...['Info', 'ListWorkers', 'Session', 'Status'].map((name) => `/moby.buildkit.v1.Control/${name}`),
  ...['Evaluate', 'Inputs', 'Ping', 'ReadDir', 'ReadFile', 'ResolveImageConfig', 'ResolveSourceMeta', 'Return'].map(
    (name) => `/moby.buildkit.v1.frontend.LLBBridge/${name}`,
  ),
  ...['StatFile', 'Warn'].map((name) => `/moby.buildkit.v1.frontend.LLBBridge/${name}`),
  '/grpc.health.v1.Health/Check',
  '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
]);
const PERMISSION_DENIED = '7';
const UNAVAILABLE = '14';
const CONNECTION_HEADERS = [':authority', ':scheme', ':status', 'host', 'http2-settings'];
/** Fields of a request to solve. Among the others, 9 is what it may use beyond its containers, such as the network of the machine. */
const KEPT_FIELDS = new Set([1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15]);
const EXPORTER_ATTRIBUTES = 4;
const FRONTEND_ATTRIBUTES = 7;
const EXPORTERS = 13;
const ATTRIBUTES_OF_EXPORTER = 2;
const OPTIONS_OF_FRONTEND = 3;
const LENGTH_DELIMITED = 2;
const PREFIX_BYTES = 5;
const MAX_LENGTH = 2n ** 31n - 1n;
const MAX_VALUE = 2n ** 64n - 1n;

/** Joins the connection of a client of BuildKit with that of the engine, for the calls that a build needs. */
export function joinBuildKit(socket: Duplex, engine: Duplex, images: MadeImages, project: string): void {
  const session = connect('http://buildkit.invalid', { createConnection: () => engine });
  const server = createServer();
  const end = () => {
    session.destroy();
    socket.destroy();
  };
  session.on('error', end).once('close', end);
  socket.once('close', end);
  server.on('sessionError', end);
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    passOnCall(stream, headers, { session, images, project }).catch((failure) => {
      const code = failure instanceof Refusal ? PERMISSION_DENIED : UNAVAILABLE;
      if (!stream.headersSent && !stream.destroyed) refuse(stream, code, failure.message);
    });
  });
  server.emit('connection', socket);
}

function refuse(stream: ServerHttp2Stream, code: string, message: string): void {
  const headers = { 'content-type': 'application/grpc', 'grpc-status': code, 'grpc-message': encodeURI(message) };
  stream.respond({ ':status': 200, ...headers }, { endStream: true });
  stream.resume();
}

interface CallOptions {
  session: ClientHttp2Session;
  images: MadeImages;
  project: string;
}

async function passOnCall(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  { session, images, project }: CallOptions,
): Promise<void> {
  const path = String(headers[':path']);
  if (!CALLS.has(path)) throw new Refusal(403, `jobs cannot use '${path}' of the container engine`);
  const isSolve = path === SOLVE;
  const rebuilt = isSolve || path === FRONTEND_SOLVE ? rebuildCall(await buffer(stream), isSolve, project) : undefined;
  for (const name of rebuilt?.names ?? []) await images.requireClaim(name);
  const outgoing = session.request(withoutConnection(headers));
  let trailers: OutgoingHttpHeaders = {};
  outgoing.on('error', () => stream.close());
  stream.once('close', () => outgoing.close());
  const ended = new Promise<void>((resolve) => {
    outgoing.once('close', resolve);
  });
  outgoing.on('trailers', (received) => {
    trailers = withoutConnection(received);
  });
  outgoing.once('response', (received) => {
    const isWhole = outgoing.readableEnded || received['grpc-status'] !== undefined;
    if (isWhole) return stream.respond({ ':status': 200, ...withoutConnection(received) }, { endStream: true });
    stream.respond({ ':status': 200, ...withoutConnection(received) }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers(trailers));
    outgoing.pipe(stream);
  });
  for (const name of rebuilt?.names ?? []) images.note(name, ended, () => trailers['grpc-status'] === '0');
  if (rebuilt) outgoing.end(rebuilt.body);
  else stream.pipe(outgoing);
}

function withoutConnection(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !CONNECTION_HEADERS.includes(name)));
}

/** The message of a build with the label of the project's images, and the names that it gives to its image. */
function rebuildCall(body: Buffer, isSolve: boolean, project: string): { body: Buffer; names: string[] } {
  const isWhole = body.length >= PREFIX_BYTES && body[0] === 0 && body.readUInt32BE(1) === body.length - PREFIX_BYTES;
  if (!isWhole) throw new Refusal(403, 'builds of jobs need messages that are not compressed');
  const message = body.subarray(PREFIX_BYTES);
  const label = entryOf(isSolve ? FRONTEND_ATTRIBUTES : OPTIONS_OF_FRONTEND, `label:${PROJECT_LABEL}`, project);
  const names = isSolve ? namesIn(message) : [];
  const rebuilt = Buffer.concat([message, label]);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(rebuilt.length, 1);
  return { body: Buffer.concat([prefix, rebuilt]), names };
}

/** The names that a build gives to its image. Throws a refusal of a build that leads out of its containers. */
function namesIn(message: Buffer): string[] {
  const attributes: Buffer[] = [];
  for (const { number, data } of fieldsOf(message)) {
    if (!KEPT_FIELDS.has(number))
      throw new Refusal(403, 'builds of jobs cannot use the network of the machine or other privileges');
    if (number === EXPORTER_ATTRIBUTES) attributes.push(data);
    if (number !== EXPORTERS) continue;
    for (const field of fieldsOf(data)) if (field.number === ATTRIBUTES_OF_EXPORTER) attributes.push(field.data);
  }
  return attributes.flatMap((attribute) => {
    const [name, value] = [1, 2].map((fieldNumber) => {
      const all = Array.from(fieldsOf(attribute)).filter(({ number }) => number === fieldNumber);
      return String(all.at(-1)?.data ?? '');
    });
    return name === 'name' && value ? value.split(',').map((image) => image.trim()) : [];
  });
}

function* fieldsOf(message: Buffer): Generator<{ number: number; data: Buffer }> {
  let offset = 0;
  const readNumber = (max: bigint) => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[offset];
      if (byte === undefined) break;
      offset += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80 && value <= max) return Number(value);
    }
    throw new Refusal(403, 'the build cannot be read');
  };
  while (offset < message.length) {
    const key = readNumber(MAX_LENGTH);
    const [number, type] = [key >>> 3, key & 7];
    if (type !== LENGTH_DELIMITED && type !== 0) throw new Refusal(403, 'the build cannot be read');
    const length = readNumber(type === LENGTH_DELIMITED ? MAX_LENGTH : MAX_VALUE);
    const end = type === LENGTH_DELIMITED ? offset + length : offset;
    if (end > message.length) throw new Refusal(403, 'the build cannot be read');
    yield { number, data: message.subarray(offset, end) };
    offset = end;
  }
}

function entryOf(number: number, name: string, value: string): Buffer {
  const parts = [name, value].map((text, index) => fieldOf(index + 1, Buffer.from(text)));
  return fieldOf(number, Buffer.concat(parts));
}

function fieldOf(number: number, data: Buffer): Buffer {
  const bytes: number[] = [];
  for (const value of [(number << 3) | LENGTH_DELIMITED, data.length]) {
    let rest = value;
    for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
    bytes.push(rest);
  }
  return Buffer.concat([Buffer.from(bytes), data]);
}
