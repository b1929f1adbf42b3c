import { connect, type Socket } from 'node:net';

/** A request that is sent over and over. */
export interface Load {
  port: number;
  method: string;
  path: string;
  headers?: Record<string, string>;
  /** `{n}` in it is another number of nine digits in every request. */
  body?: string;
  connections: number;
  durationMs: number;
}

/** The results of a load. */
export interface Loaded {
  perSecond: number;
  p99Ms: number;
  /** Answers with another status than 2xx. */
  refused: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const EMPTY_BUFFER = Buffer.alloc(0);
let sentCount = 0;

/** Sends requests, each as soon as the one before it is answered. Leaner than an HTTP client, because it shares the machine with what it measures. */
export async function putLoad(load: Load): Promise<Loaded> {
  const took: number[] = [];
  let refused = 0;
  const beganMs = performance.now();
  const isRunning = (nowMs: number): boolean => nowMs < beganMs + load.durationMs;
  await Promise.all(
    Array.from({ length: load.connections }, () =>
      talk(load, isRunning, (ms, status) => {
        took.push(ms);
        if (status < 200 || status > 299) refused += 1;
      }),
    ),
  );
  const seconds = (performance.now() - beganMs) / 1000;
  took.sort((a, b) => a - b);
  return { perSecond: took.length / seconds, p99Ms: took[Math.floor(took.length * 0.99)] ?? Number.NaN, refused };
}

function requestOf({ port, method, path, headers = {}, body }: Load): () => Buffer {
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  if (body === undefined) {
    const bytes = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    return () => bytes;
  }
  const number = () => String(++sentCount).padStart(9, '0');
  const length = `Content-Length: ${Buffer.byteLength(body.replaceAll('{n}', number()))}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\n${lines.join('')}Content-Type: application/json\r\n${length}\r\n`;
  const bytes = Buffer.from(head + body);
  return body.includes('{n}') ? () => Buffer.from(head + body.replaceAll('{n}', number())) : () => bytes;
}

function talk(
  load: Load,
  isRunning: (nowMs: number) => boolean,
  onAnswer: (ms: number, status: number) => void,
): Promise<void> {
  const next = requestOf(load);
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(load.port, '127.0.0.1');
    socket.setNoDelay(true);
    let pendingBytes: Buffer = EMPTY_BUFFER;
    let neededBytes = 0;
    let sentMs = 0;
    const ask = (): void => {
      sentMs = performance.now();
      socket.write(next());
    };
    socket.on('connect', ask);
    socket.on('data', (chunk: Buffer) => {
      pendingBytes = pendingBytes.length > 0 ? Buffer.concat([pendingBytes, chunk]) : chunk;
      if (pendingBytes.length < neededBytes) return;
      const length = lengthOf(pendingBytes);
      if (length === undefined || pendingBytes.length < length) {
        neededBytes = length ?? 0;
        return;
      }
      const nowMs = performance.now();
      onAnswer(nowMs - sentMs, Number(pendingBytes.toString('latin1', 9, 12)));
      pendingBytes = EMPTY_BUFFER;
      neededBytes = 0;
      if (isRunning(nowMs)) ask();
      else socket.end(() => resolve());
    });
    socket.on('error', reject);
    socket.on('close', () => resolve());
  });
}

/** Bytes of the answer that begins here; undefined while that cannot be known. */
function lengthOf(bytes: Buffer): number | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const [, length] = /\r\ncontent-length: *(\d+)/i.exec(head) ?? [];
  if (length !== undefined) return end + HEAD_END.length + Number(length);
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
    return bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK) ? bytes.length : undefined;
  }
  return end + HEAD_END.length;
}
