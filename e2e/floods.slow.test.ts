import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { requireEngine, testImage } from '../server/testing/engine.ts';
import type { Body } from '../server/testing/tenant.ts';

/** Limits of the memory that clients can occupy in the shipped server. Prints the memory before, during and after each flood. */
const CLIENTS = 200;
const MIB = 1024 * 1024;
/** Of one listener, and of the rest of the process: copies, garbage, and buffers of connections. */
const MOST_BYTES = (256 + 250) * MIB;
/** Memory that may remain: recorded bodies take up to 32 MB, and the system's allocator keeps some pages. */
const LEFT_BYTES = 220 * MIB;
let atStart: number | undefined;

const WORLD = `format: 1
orgs:
  o:
    workspaces:
      w:
        environments:
          e:
            properties: { environment_type: production }
            lambdas:
              large:
                properties:
                  provider: { id: default-lambda }
                  runtime: nodejs
                  code_type: Inline
                  handler: run
                  code: "exports.run = (event, context, callback) => callback(null, 'x'.repeat(${8 * MIB}));"
            containers:
              printing:
                properties:
                  container_type: DOCKER
                  provider: { id: default-docker }
                  image: IMAGE
                  memory: 32
                  cmd: 'trap "exit 0" TERM; sleep 3600 & wait'
            apis:
              a:
                apiendpoints:
                  large:
                    properties: { resource: /large, methods: [GET, POST], implementation_type: lambda, implementation_id: /o/w/e/large }
`;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
let folder: string;
let server: ChildProcess;
let ready: { baseUrl: string; gatewayUrl: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium floods '));
  await promisify(execFile)(process.execPath, [join(root, 'scripts', 'setup.mjs')]);
  const [seed, readyFile] = [join(folder, 'world.yaml'), join(folder, 'ready.json')];
  await requireEngine();
  await writeFile(seed, WORLD.replace('IMAGE', await testImage()));
  const ports = ['base', 'gateway', 'crm', 'scm'].flatMap((name) => [`--${name}-port`, '0']);
  const args = [
    '--headless',
    '--containers-engine',
    'auto',
    '--containers-on-stop',
    'remove',
    '--data',
    join(folder, 'data'),
    '--seed',
    seed,
  ];
  server = spawn(
    process.execPath,
    [join(root, 'dist', 'server', 'cli.js'), 'start', ...args, ...ports, '--ready-file', readyFile],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  await vi.waitUntil(() => readFile(readyFile, 'utf8').catch(() => ''), { timeout: 60_000 });
  ready = JSON.parse(await readFile(readyFile, 'utf8'));
}, 120_000);
afterAll(async () => {
  server.kill('SIGTERM');
  if (server.exitCode === null) await once(server, 'exit');
  await rm(folder, { recursive: true, maxRetries: 3 });
});

async function residentBytes(): Promise<number> {
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

async function openAt(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {}); // it may be closed while it sends
  await once(socket, 'connect');
  return socket;
}

const MANY = Buffer.alloc(10 * MIB - 1024, 'a');
const upload = (path: string) => async (socket: Socket) => {
  const type = 'application/x-www-form-urlencoded';
  socket.resume();
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${10 * MIB}\r\n\r\n`,
  );
  socket.write(MANY);
};

const FLOODS: [string, () => string, (socket: Socket) => Promise<void>][] = [
  ['stalled uploads to the control plane', () => ready.baseUrl, upload('/security/root/oauth/issue')],
  ['stalled uploads to the gateway', () => ready.gatewayUrl, upload('/a/large')],
  [
    'responses that are not read',
    () => ready.gatewayUrl,
    async (socket) => void socket.pause().write('GET /a/large HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  ],
];

const mib = (bytes: number) => `${Math.round(bytes / MIB)} MiB`;

/** Takes part in a flood until it ends. */
async function expectMemory(name: string, flood: (look: () => Promise<void>) => Promise<() => void>): Promise<void> {
  const before = await residentBytes();
  atStart ??= before;
  let most = 0;
  const end = await flood(async () => {
    most = Math.max(most, await residentBytes());
  });
  end();
  await expect.poll(() => fetch(`${ready.baseUrl}/meta/health`).then(({ status }) => status)).toBe(200);
  let after = await residentBytes();
  for (let times = 0; times < 300 && after - atStart > LEFT_BYTES; times += 1) {
    // Garbage is only collected when there is activity.
    await fetch(`${ready.baseUrl}/meta/health`);
    await delay(100);
    after = await residentBytes();
  }
  console.info(`${name}: ${mib(before)} before, at most ${mib(most)}, ${mib(after)} after`);
  expect({ most: most - atStart < MOST_BYTES, after: after - atStart < LEFT_BYTES }).toEqual({
    most: true,
    after: true,
  });
}

describe.runIf(process.platform === 'linux')('memory is limited, and given back, after', { timeout: 120_000 }, () => {
  it.each(FLOODS)('%s', (name, url, begin) =>
    expectMemory(name, async (look) => {
      const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => openAt(url())));
      const flood = Promise.all(sockets.map(begin));
      // Until nothing changes: everything was sent or refused.
      for (let seen = '', same = 0; same < 10; await delay(100)) {
        await look();
        const now = sockets.map((one) => `${one.bytesWritten - one.writableLength},${one.destroyed}`).join();
        same = now === seen ? same + 1 : 0;
        seen = now;
      }
      await flood;
      return () => sockets.forEach((socket) => void socket.destroy());
    }),
  );

  it('terminals whose viewers report everything as shown and read nothing', async () => {
    const { key, secret } = JSON.parse(await readFile(join(folder, 'data', 'root-api-key.json'), 'utf8'));
    const headers = { authorization: `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}` };
    const get = async (path: string): Promise<Body> =>
      (await fetch(`${ready.baseUrl}/meta/o/containers${path}`, { headers })).json();
    const [{ id }] = await get('');
    await expect.poll(async () => (await get(`/${id}`)).properties.status, { timeout: 60_000 }).toBe('RUNNING');
    await expectMemory('terminals that are not read', async (look) => {
      const address = `${ready.baseUrl.replace('http', 'ws')}/inspect/containers/${id}/terminal`;
      const viewers: WebSocket[] = [];
      for (let count = 0; count < 4; count += 1) {
        const viewer = new WebSocket(address, ['terrarium.terminal'], { headers });
        viewers.push(viewer);
        await once(viewer, 'open');
        viewer.send(Buffer.from('while true; do head -c 1000000 /dev/zero; done\n'));
        await once(viewer, 'message');
        viewer.pause();
      }
      for (let times = 0; times < 100; times += 1) {
        for (const viewer of viewers) viewer.send(JSON.stringify({ shown: 2 ** 40 }));
        await look();
        await delay(50);
      }
      return () => viewers.forEach((viewer) => void viewer.terminate());
    });
  });
});
