// Floods the data path of the shipped server with what is bad for it, and tells what its memory does: distinct endpoints and paths,
// bodies of one byte and of 10 MB, clients that do not read, clients whose bodies never end, answers before a body is read. Each line
// says how many were answered how, and the memory of the server alone (MB) before, at most meanwhile, and once it has rested. Ends
// with 1 when one takes more than it may. `node bench/run.mjs flood [seconds]`: so long each, 6 unless said.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Terrarium } from './speed/terrarium.ts';

const SECONDS = Math.max(1, Number(process.argv[2] ?? 6));
const CONNECTIONS = 20;
const ENDPOINTS = 200;
const LARGE_BYTES = 10 * 1024 * 1024 - 1;
const ANSWER_BYTES = 4 * 1024 * 1024;
const DEAF = 40;
const REST_MS = 3_000;
const SAMPLE_MS = 50;

/** What it may take meanwhile beyond what it took before, MB: what the work holds by design, and room for garbage. */
const ROOM_MB = 200;

const folder = mkdtempSync(join(tmpdir(), 'terrarium-flood-'));
const platform = await Terrarium.start(join(process.cwd(), 'dist', 'server', 'cli.js'), folder);
const { gatewayPort: port } = platform;

function megabytes(): number {
  const status = readFileSync(`/proc/${platform.child.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** Runs a part; tells what came of it, and what memory did. @param heldMb what it means to hold */
async function part(
  name: string,
  heldMb: number,
  flood: (saw: (what: string) => void) => Promise<void>,
): Promise<void> {
  const counts = new Map<string, number>();
  const before = megabytes();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, megabytes());
  }, SAMPLE_MS);
  await flood((what) => void counts.set(what, (counts.get(what) ?? 0) + 1));
  clearInterval(timer);
  await wait(REST_MS);
  const told = [...counts].map(([what, count]) => `${what}: ${count}`).join(', ');
  const isOver = most > before + heldMb + ROOM_MB;
  if (isOver) process.exitCode = 1;
  const verdict = isOver ? ` MORE than ${heldMb + ROOM_MB} above` : '';
  console.log(`${name.padEnd(40)} ${told} / ${before} MB, at most ${most}, rested ${megabytes()}${verdict}`);
}

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket)).on('error', reject);
  });
}

const lines = (method: string, path: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${more}\r\n`;

/** Sends requests, one after the other on each connection, until the time is up. */
async function flood(saw: (what: string) => void, next: () => (string | Buffer)[]): Promise<void> {
  const untilMs = performance.now() + SECONDS * 1000;
  const talk = async (): Promise<void> => {
    while (performance.now() < untilMs) {
      const socket = await open();
      let kept = '';
      let wake = () => {};
      socket.on('data', (chunk) => {
        kept += chunk.toString('latin1');
        wake();
      });
      socket.on('error', () => {}).on('close', () => wake());
      while (!socket.destroyed && performance.now() < untilMs) {
        kept = '';
        for (const piece of next()) socket.write(piece);
        while (!isWhole(kept) && !socket.destroyed) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        saw(kept === '' ? 'no answer' : kept.slice(9, 12));
      }
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, talk));
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n');
  return end >= 0 && answer.length >= end + 4 + Number(/content-length: *(\d+)/i.exec(answer)?.[1] ?? 0);
}

/** A client sends what it says it will, and tells how it ended: by the status of an answer, or without one. */
async function holdOn(beginning: string, goOn: (socket: Socket) => void, saw: (what: string) => void): Promise<Socket> {
  const socket = await open();
  let kept = '';
  socket.on('data', (chunk) => {
    if (kept.length < 12) kept += chunk.toString('latin1');
  });
  socket.on('error', () => {}).on('close', () => saw(kept === '' ? 'cut off' : kept.slice(9, 12)));
  socket.write(beginning);
  goOn(socket);
  return socket;
}

try {
  const echo = await platform.publish({ code: 'exports.run = (event) => String(event.length)', memory: 256 });
  const large = await platform.publish({ code: `exports.run = () => 'x'.repeat(${ANSWER_BYTES})` });
  const environment = await platform.environment();
  const provider = { id: await platform.provider('default-gateway-manager'), locations: [] };
  const api = await platform.ask('POST', `${environment}/apis`, { name: 'many', properties: { provider } });
  for (let at = 0; at < ENDPOINTS; at += 1) {
    const properties = { resource: `/e${at}`, implementation_type: 'lambda', implementation_id: echo.id };
    await platform.ask('POST', `/meta/root/apis/${api.id}/apiendpoints`, { name: `e${at}`, properties });
  }
  await platform.call(echo);
  let count = 0;
  await part(`${ENDPOINTS} endpoints in turn`, 0, (saw) =>
    flood(saw, () => [lines('GET', `/many/e${count++ % ENDPOINTS}`, `X-Name-${count}: ${count}\r\n`)]),
  );
  await part('paths and headers that nobody has', 0, (saw) =>
    flood(saw, () => [lines('GET', `/none/${count++}/${'x'.repeat(4_000)}`, `X-Secret-${count}: ${count}\r\n`)]),
  );
  await part('bodies of one byte', 0, (saw) =>
    flood(saw, () => [`${lines('POST', echo.path, 'Content-Length: 1\r\n')}1`]),
  );
  const body = Buffer.alloc(LARGE_BYTES, 'x');
  const largeRequest = lines('POST', echo.path, `Content-Length: ${LARGE_BYTES}\r\n`);
  // Each is held while it comes, while it waits and runs, and once more on its way to its process.
  await part('bodies of 10 MB', CONNECTIONS * 30, (saw) => flood(saw, () => [largeRequest, body]));
  await part('refused before its body is read', 0, (saw) =>
    flood(saw, () => [lines('POST', '/none', `Content-Length: ${LARGE_BYTES}\r\n`), body]),
  );
  await part('bodies that never end', 0, async (saw) => {
    const drip = (socket: Socket) => {
      const timer = setInterval(() => socket.write('1\r\nx\r\n'), 5);
      socket.on('close', () => clearInterval(timer));
    };
    const begin = lines('POST', echo.path, 'Transfer-Encoding: chunked\r\n');
    const sockets = await Promise.all(Array.from({ length: 200 }, () => holdOn(begin, drip, saw)));
    await wait(SECONDS * 1000);
    for (const socket of sockets) socket.destroy();
  });
  await part('endless bodies, as fast as they go', CONNECTIONS * 10, async (saw) => {
    const chunk = Buffer.from(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
    const pour = (socket: Socket) => {
      const more = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', more);
      more();
    };
    const begin = lines('POST', echo.path, 'Transfer-Encoding: chunked\r\n');
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => holdOn(begin, pour, saw)));
    await wait(SECONDS * 1000);
    for (const socket of sockets) socket.destroy();
  });
  await part(`${DEAF} clients that do not read`, (DEAF * ANSWER_BYTES * 2) / 2 ** 20, async (saw) => {
    const deaf = (socket: Socket) => void socket.pause();
    const sockets = await Promise.all(Array.from({ length: DEAF }, () => holdOn(lines('GET', large.path), deaf, saw)));
    await wait(SECONDS * 1000);
    for (const socket of sockets) socket.destroy();
  });
  const { text } = await platform.call(echo);
  console.log(`and then it answers: ${text === '2'}`);
} finally {
  await platform.end();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
