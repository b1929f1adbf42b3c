// How long a container takes from `POST containers` to its first byte through the gateway, beside a bare `docker run` of the same
// image and its first byte through the published port: in turns, on one engine. Look at the ratio; the figures are this machine's.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Emulator, startEmulator } from '../server/emulator.ts';

const ROUNDS = 15;
const IMAGE = process.argv[2] ?? 'terrarium-test/busybox:1';
const PORT = 8080;
/** Where containers find each other by name: the engine takes longer to start one there. */
const NETWORK = `terrarium-bench-${process.pid}`;
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

async function bare(network: string): Promise<number> {
  const startedMs = performance.now();
  const limits = ['--memory', '64m', '--cpus', '1', '--network', network];
  const id = await docker('run', '-d', ...limits, '-p', `127.0.0.1::${PORT}`, IMAGE, '/bin/sh', '-c', SERVE);
  const published = await docker('port', id, String(PORT));
  await firstByte(`http://${published}/`);
  const tookMs = performance.now() - startedMs;
  await docker('rm', '-f', '-v', id);
  return tookMs;
}

/** One platform with an environment and an API; each call publishes one container more, and takes it away again. */
async function prepare(emulator: Emulator): Promise<() => Promise<number>> {
  const { apiKey, apiSecret = '' } = emulator.rootCredentials;
  const authorization = `Basic ${Buffer.from(`${apiKey}:${apiSecret}`).toString('base64')}`;
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${emulator.metaUrl}${path}`, {
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
  return async () => {
    const name = `app-${count++}`;
    const startedMs = performance.now();
    const container = await call('POST', `/bench/environments/${environment.id}/containers`, {
      name,
      properties: {
        container_type: 'DOCKER',
        image: IMAGE,
        provider,
        cmd: SERVE,
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
    await firstByte(`${endpoint.properties.public_url}/`);
    const tookMs = performance.now() - startedMs;
    await call('DELETE', `/root/apiendpoints/${endpoint.id}`);
    await call('DELETE', `/root/containers/${container.id}`);
    return tookMs;
  };
}

const median = (values: number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const spread = (values: number[]) => `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)} ms`;

const emulator = await startEmulator({ seed: 'empty' });
try {
  const published = await prepare(emulator);
  await docker('network', 'create', NETWORK);
  const ways = { bare: () => bare('bridge'), named: () => bare(NETWORK), ours: published };
  const took: Record<keyof typeof ways, number[]> = { bare: [], named: [], ours: [] };
  // The first of each warms the engine up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const way of ['bare', 'named', 'ours'] as const) {
      const ms = await ways[way]();
      if (round > 0) took[way].push(ms);
      await pause(300); // what was taken away ends meanwhile
    }
  }
  const [bareMs, namedMs, oursMs] = [median(took.bare), median(took.named), median(took.ours)];
  console.log(`docker run, to its first byte:               median ${bareMs.toFixed(0)} ms (${spread(took.bare)})`);
  console.log(`the same on a network of its own, as ours:   median ${namedMs.toFixed(0)} ms (${spread(took.named)})`);
  console.log(`POST containers, to it through the gateway:  median ${oursMs.toFixed(0)} ms (${spread(took.ours)})`);
  console.log(
    `ratio: ${(oursMs / bareMs).toFixed(2)} (goal: at most 1.3); on such a network ${(oursMs / namedMs).toFixed(2)}`,
  );
} finally {
  await emulator.stop();
  await docker('network', 'rm', NETWORK).catch(() => undefined);
}
