// How long a container takes from `POST containers` to its first byte through the gateway, beside a bare `docker run` of the same
// image and its first byte through the published port: in turns, on one engine. And how many requests a second reach a container
// through the gateway at 50 connections, and what processor time each takes, beside an nginx that proxies the same (Debian: apt-get
// install nginx-light; without one that row is left out). BENCH_BEFORE names the command line of another build, whose gateway takes
// its turns, too. Look at the ratios; the figures are this machine's.
//
//   node bench/run.mjs containers [start | proxy]
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { testImage } from '../server/containers/docker/engine-for-tests.ts';
import { startEmulator } from '../server/emulator.ts';
import { median } from './speed/calls.ts';
import { type Line, printLines, printTable } from './speed/goals.ts';
import { type Load, putLoad } from './speed/load.ts';
import { hasNginx, importNginx, SERVE_NGINX, startProxy } from './speed/nginx.ts';
import { AUTHORIZATION, Terrarium } from './speed/terrarium.ts';
import { measureInTurns, medianOf, type Subject } from './speed/turns.ts';

const SELF = fileURLToPath(import.meta.url);
const CLI = join(dirname(SELF), '..', 'server', 'cli.js');
const CLI_BEFORE = process.env.BENCH_BEFORE;
const ROUNDS = 15;
/** V8 compiles what a request goes through while the first ten thousand come; nginx is compiled. */
const PROXY_WARM_UP_MS = 6_000;
const PROXY_CONNECTIONS = 50;
const PORT = 8080;
/** Where containers find each other by name: the engine takes longer to start one there. */
const NETWORK = `terrarium-bench-${process.pid}`;
const NGINX_IMAGE = `${NETWORK}:nginx`;
const SERVE = `mkdir -p /www && echo hello > /www/index.html && exec httpd -f -p ${PORT} -h /www`;
const LIMIT_MS = 30_000;
const RETRY_MS = 10;

const run = promisify(execFile);
const docker = async (...args: string[]) => (await run('docker', args)).stdout.trim();
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks until there is an answer of the app. */
async function firstByte(url: string): Promise<void> {
  const until = performance.now() + LIMIT_MS;
  while (performance.now() < until) {
    const answer = await fetch(url).catch(() => undefined);
    const text = await answer?.text().catch(() => '');
    if (answer?.status === 200 && text?.startsWith('hello')) return;
    await pause(RETRY_MS);
  }
  throw new Error(`${url} did not answer within ${LIMIT_MS} ms`);
}

async function bare(image: string, network: string): Promise<number> {
  const startedMs = performance.now();
  const limits = ['--memory', '64m', '--cpus', '1', '--network', network];
  const id = await docker('run', '-d', ...limits, '-p', `127.0.0.1::${PORT}`, image, '/bin/sh', '-c', SERVE);
  const published = await docker('port', id, String(PORT));
  await firstByte(`http://${published}/`);
  const tookMs = performance.now() - startedMs;
  await docker('rm', '-f', '-v', id);
  return tookMs;
}

interface Published {
  url: string;
  /** From the request until the first byte. */
  tookMs: number;
  /** Takes it away again. */
  end(): Promise<void>;
}

/** One platform with an environment and an API; each call publishes one container more. */
async function prepare(
  metaUrl: string,
  authorization: string,
): Promise<(image: string, cmd: string) => Promise<Published>> {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${metaUrl}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  await call('POST', '/root/providers/initialize', {});
  const providers: { id: string; name: string }[] = await call('GET', '/root/providers');
  const provider = { id: providers.find(({ name }) => name === 'default-docker')?.id };
  await call('POST', '/root', { name: 'bench' });
  const workspace = await call('POST', '/bench/workspaces', { name: 'ws' });
  const environment = await call('POST', `/bench/workspaces/${workspace.id}/environments`, {
    name: 'env',
    properties: { environment_type: 'development' },
  });
  const api = await call('POST', `/bench/environments/${environment.id}/apis`, { name: 'bench' });
  let count = 0;
  return async (image, cmd) => {
    const name = `app-${count++}`;
    const startedMs = performance.now();
    const container = await call('POST', `/bench/environments/${environment.id}/containers`, {
      name,
      properties: {
        container_type: 'DOCKER',
        image,
        provider,
        cmd,
        memory: 64,
        port_mappings: [{ protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: PORT }],
      },
    });
    const endpoint = await call('POST', `/root/apis/${api.id}/apiendpoints`, {
      name,
      properties: {
        resource: `/${name}`,
        implementation_type: 'container',
        implementation_id: container.id,
        container_port_name: 'web',
      },
    });
    const url = `${endpoint.properties.public_url}/`;
    await firstByte(url);
    const end = async () => {
      await call('DELETE', `/root/apiendpoints/${endpoint.id}`);
      await call('DELETE', `/root/containers/${container.id}`);
    };
    return { url, tookMs: performance.now() - startedMs, end };
  };
}

async function startLines(): Promise<Line[]> {
  const emulator = await startEmulator({ seed: 'empty' });
  try {
    await docker('network', 'create', NETWORK);
    const { apiKey, apiSecret = '' } = emulator.rootCredentials;
    const authorization = `Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`;
    return await measureStarts(await prepare(emulator.metaUrl, authorization));
  } finally {
    await emulator.stop();
    await docker('network', 'rm', NETWORK).catch(() => undefined);
  }
}

async function measureStarts(publish: Awaited<ReturnType<typeof prepare>>): Promise<Line[]> {
  const image = await testImage();
  const ours = async () => {
    const { tookMs, end } = await publish(image, SERVE);
    await end();
    return tookMs;
  };
  const ways = { bare: () => bare(image, 'bridge'), named: () => bare(image, NETWORK), ours };
  const took: Record<keyof typeof ways, number[]> = { bare: [], named: [], ours: [] };
  // The first of each warms the engine up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const way of ['bare', 'named', 'ours'] as const) {
      const ms = await ways[way]();
      if (round > 0) took[way].push(ms);
      await pause(300); // what was taken away ends meanwhile
    }
  }
  const line = { what: 'POST containers to first byte', measured: median(took.ours), unit: 'ms' };
  return [
    { ...line, beside: { name: 'docker run', measured: median(took.bare) } },
    {
      ...line,
      beside: { name: 'docker run on such a network', measured: median(took.named) },
      goal: { atMost: 1.3 },
    },
  ];
}

async function proxyLines(folder: string, loader: ChildProcess): Promise<Line[]> {
  if (!hasNginx()) {
    console.error('there is no nginx (Debian: apt-get install nginx-light): the row of the proxy is left out');
    return [];
  }
  await importNginx(NGINX_IMAGE);
  const ends: (() => unknown)[] = [];
  try {
    const bareId = await docker('run', '-d', '-p', `127.0.0.1::${PORT}`, NGINX_IMAGE, '/bin/sh', '-c', SERVE_NGINX);
    ends.push(() => docker('rm', '-f', '-v', bareId));
    const proxy = await startProxy(folder, Number(/:(\d+)$/.exec(await docker('port', bareId, String(PORT)))?.[1]));
    ends.push(() => proxy.child.kill());
    const nginx = subject('nginx', proxy.child, proxy.port, '/');
    const subjects = [nginx];
    for (const [name, cli] of [['before', CLI_BEFORE] as const, ['Terrarium', CLI] as const]) {
      if (cli === undefined) continue;
      const platform = await Terrarium.start(cli, folder, { more: ['--containers-engine', 'auto'] });
      ends.push(() => platform.end());
      const publish = await prepare(`${platform.baseUrl}/meta`, AUTHORIZATION);
      const { url, end } = await publish(NGINX_IMAGE, SERVE_NGINX);
      ends.push(end);
      subjects.push(subject(name, platform.child, platform.gatewayPort, new URL(url).pathname));
    }
    await measureInTurns(subjects, loader, { connections: PROXY_CONNECTIONS, warmUpMs: PROXY_WARM_UP_MS });
    const what = `proxy to a container, ${PROXY_CONNECTIONS} connections`;
    const rows = subjects.map((one) => [
      one.name,
      medianOf(one, 'perSecond').toFixed(0),
      medianOf(one, 'cpuUs').toFixed(0),
    ]);
    printTable([what, 'requests/s', 'processor, us'], rows);
    const beside = { name: 'nginx', measured: medianOf(nginx, 'perSecond') };
    return subjects.slice(1).map((one) => ({
      what: one.name === 'before' ? `before: ${what}` : what,
      measured: medianOf(one, 'perSecond'),
      unit: '/s',
      beside,
      goal: { atLeast: 0.5 },
    }));
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

function subject(name: string, child: ChildProcess, port: number, path: string): Subject {
  return { name, child, asked: { method: 'GET', port, path }, rounds: [] };
}

async function main(only: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'terrarium-bench-'));
  const loader = fork(SELF, ['load']);
  try {
    const lines: Line[] = [];
    if (only !== 'proxy') lines.push(...(await startLines()));
    if (only !== 'start') lines.push(...(await proxyLines(folder, loader)));
    printLines(lines);
  } finally {
    loader.disconnect();
    await docker('rmi', '--force', NGINX_IMAGE).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const [role = ''] = process.argv.slice(2);
if (role === 'load') {
  process.on('message', (asked) => void putLoad(asked as Load).then((loaded) => process.send?.(loaded))); // our own requests
  process.on('disconnect', () => process.exit());
} else await main(role);
