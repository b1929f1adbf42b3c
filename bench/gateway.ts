// Requests a second through the gateway, beside bare node:http and express that read the same body and give the same answer. Each
// server runs in a process of its own, and they take turns, so that a busy moment of the machine meets them alike. The container
// of one row is the node:http of the first: what it is slower by is the cost of the way through the gateway. Look at the ratios;
// the figures are this machine's.
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import autocannon from 'autocannon';
import express from 'express';
import { ContainerProxy } from '../server/gateway/container-proxy.ts';
import { Gateway } from '../server/gateway/gateway.ts';
import type { InstanceDirectory } from '../server/gateway/instance-directory.ts';
import { LambdaService } from '../server/lambdas/lambda-service.ts';
import type { LambdaInvoker } from '../server/model/invocation.ts';
import type { JsonObject } from '../server/model/json.ts';
import type { StoredResource } from '../server/model/record.ts';
import type { WorldView } from '../server/model/world-view.ts';
import { openKeyedLog } from '../server/store/keyed-log.ts';
import { MemoryFiles } from '../server/store/memory-files.ts';

const WARM_UP_S = 1;
const ROUNDS = 5;
const ROUND_S = 1;
const CONNECTIONS = 32;
const SELF = fileURLToPath(import.meta.url);
/** What scripts/build.mjs makes; without it the row with a real lambda is left out. */
const CHILD_FILE = join(dirname(SELF), '..', 'server', 'lambda-child.cjs');

const kinds = [
  'node:http',
  'express',
  'gateway',
  'gateway, 1000 endpoints, limited',
  'gateway, real lambda',
  'gateway, container',
] as const;
type Kind = (typeof kinds)[number];

const PATH = '/web/lead';
const ANSWER = 'SUCCESS';
const lead = { firstName: 'Ada', lastName: 'Lovelace', company: 'Analytical Engines', email: 'ada@example.com' };
const BODY = JSON.stringify({
  payload: { ...lead, phone: '1', title: 'Countess', size: '12', message: 'x'.repeat(100) },
});

function record(type: string, name: string, parent: string | null, properties: JsonObject): StoredResource {
  const [by, at] = [randomUUID(), '2024-05-01T12:00:00.000Z'];
  const modified = { action: 'create', by, at } as const;
  return {
    id: randomUUID(),
    type,
    name,
    parent,
    state: 'Active',
    owner: by,
    created: { by, at },
    modified,
    properties,
  };
}

/** A world with one lambda and endpoints `/web/lead`, `/web/lead1`, `/web/lead2` ... that lead to it. */
function viewOf(endpoints: number, plugins: JsonObject): WorldView & { lambda: StoredResource } {
  const root = record('Resource::Organization', 'root', null, {});
  const code = `exports.run = (event, context, callback) => callback(null, '${ANSWER}')`;
  const properties = { runtime: 'nodejs', code_type: 'code', code, handler: 'run' };
  const lambda = record('Resource::Node::Lambda', 'webform', root.id, properties);
  const api = record('Resource::Api', 'web', root.id, {});
  const target = { implementation_type: 'lambda', implementation_id: lambda.id };
  const published = Array.from({ length: endpoints }, (_, at) =>
    record('Resource::ApiEndpoint', 'lead', api.id, {
      ...target,
      resource: `/lead${at || ''}`,
      methods: ['POST'],
      plugins,
    }),
  );
  const records = new Map([root, lambda, api, ...published].map((one) => [one.id, one]));
  return {
    root,
    lambda,
    find: (id) => records.get(id),
    all: (word) => (word === 'apiendpoints' ? published : word === 'lambdas' ? [lambda] : []),
    children: () => [],
    ownedBy: () => [],
    named: () => [],
    referrers: () => [],
  };
}

/** The same world with a container behind the endpoint. */
function withContainer(view: ReturnType<typeof viewOf>): WorldView {
  const mapping = { name: 'http', protocol: 'tcp', container_port: 8080, expose_endpoint: true, lb_port: 8080 };
  const container = record('Resource::Container', 'shop', view.root.id, { port_mappings: [mapping] });
  const target = { implementation_type: 'container', implementation_id: container.id, container_port_name: 'http' };
  const published = view
    .all('apiendpoints')
    .map((one) => ({ ...one, properties: { resource: '/lead', methods: ['POST'], ...target } }));
  return {
    ...view,
    find: (id) => (id === container.id ? container : view.find(id)),
    all: (word) => (word === 'apiendpoints' ? published : []),
  };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function bareServer(): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      Buffer.concat(chunks);
      response
        .writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': ANSWER.length })
        .end(ANSWER);
    });
  });
}

function expressServer(): Server {
  const app = express();
  app.use(express.raw({ type: () => true }));
  app.post(PATH, (_request, response) => {
    response.type('text/plain').send(ANSWER);
  });
  return createServer(app);
}

/** Answers in this process, as fast as can be: what is left is the gateway's own cost. */
const instantly: LambdaInvoker = {
  invoke: async (lambdaId, { executionId }) => ({
    executionId,
    lambdaId,
    lambdaName: 'webform',
    trigger: 'gateway',
    acceptedAtMs: 0,
    finishedAtMs: 0,
    cold: false,
    outcome: { ok: true, value: { kind: 'text', bytes: Buffer.from(ANSWER) } },
    logs: [],
    outbound: [],
  }),
  refusal: () => undefined,
  holdPlace: () => () => {},
};

const NO_INSTANCES = { serving: () => [], whyNotServing: () => '' };

async function gatewayServer(
  view: WorldView,
  invoker: LambdaInvoker,
  directory: InstanceDirectory = NO_INSTANCES,
): Promise<number> {
  const none = 'http://127.0.0.1';
  const gateway = new Gateway({
    view,
    invoker,
    containers: new ContainerProxy({ directory, nowMs: Date.now }),
    authenticator: { identify: () => ({ kind: 'none' }) },
    judge: { may: () => false },
    results: await openKeyedLog(new MemoryFiles(), { name: 'results', onWarning: console.error }),
    addresses: () => ({ gatewayUrl: none, securityUrl: none }),
    nowMs: Date.now,
    version: '0.0.0',
    allowedHosts: new Set(),
  });
  return (await gateway.start({ host: '127.0.0.1', port: 0 })).port;
}

function containerServer(port: number): Promise<number> {
  const serving = [{ instanceId: 'bare', host: '127.0.0.1', port }];
  const directory = { serving: () => serving, whyNotServing: () => '' };
  return gatewayServer(withContainer(viewOf(1, {})), instantly, directory);
}

async function lambdaServer(scratchDir: string): Promise<number> {
  const view = viewOf(1, {});
  const lambdas = new LambdaService({
    view,
    addresses: () => ({ metaUrl: '', securityUrl: '', gatewayUrl: '' }),
    nowMs: Date.now,
    childFile: CHILD_FILE,
    scratchDir,
    outbound: { crm: 'pass', crmAddress: () => undefined },
  });
  await lambdas.start();
  process.on('disconnect', () => void lambdas.stop().then(() => process.exit()));
  return gatewayServer(view, lambdas);
}

/** In a child: starts one kind of server and tells its port; it lives as long as its parent listens. */
async function serve(kind: Kind, scratchDir: string, upstreamPort: number): Promise<void> {
  const start: Record<Kind, () => Promise<number>> = {
    'node:http': () => listen(bareServer()),
    express: () => listen(expressServer()),
    gateway: () => gatewayServer(viewOf(1, {}), instantly),
    'gateway, 1000 endpoints, limited': () =>
      gatewayServer(viewOf(1000, { rateLimit: { enabled: true, perMinute: 1e9 } }), instantly),
    'gateway, real lambda': () => lambdaServer(scratchDir),
    'gateway, container': () => containerServer(upstreamPort),
  };
  process.on('message', () => process.send?.(cpuUs()));
  process.send?.(await start[kind]());
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

interface Round {
  perSecond: number;
  p99Ms: number;
  /** Processor time that the server's process took for a request: the steadiest figure on a busy machine. */
  cpuUs: number;
}

/** Loads a server for a time; throws when an answer was not the right one. */
async function load(child: ChildProcess, port: number, durationS: number): Promise<Round> {
  const beforeUs = await ask(child);
  const result = await autocannon({
    url: `http://127.0.0.1:${port}${PATH}`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: BODY,
    connections: CONNECTIONS,
    duration: durationS,
    expectBody: ANSWER,
  });
  if (result.non2xx + result.errors + result.mismatches > 0) throw new Error(`not answered as expected: port ${port}`);
  const cpuUs = ((await ask(child)) - beforeUs) / result.requests.total;
  return { perSecond: result.requests.average, p99Ms: result.latency.p99, cpuUs };
}

async function ask(child: ChildProcess): Promise<number> {
  child.send('cpu');
  const [answer] = await once(child, 'message');
  return answer;
}

function median(rounds: readonly Round[], figure: keyof Round): number {
  const sorted = rounds.map((round) => round[figure]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

async function main(): Promise<void> {
  const scratchDir = mkdtempSync(join(tmpdir(), 'terrarium-bench-'));
  const servers: { kind: Kind; child: ChildProcess; port: number; rounds: Round[] }[] = [];
  for (const kind of kinds) {
    if (kind === 'gateway, real lambda' && !existsSync(CHILD_FILE)) continue;
    const child = fork(SELF, [kind, scratchDir, String(servers[0]?.port)]);
    const [port] = await once(child, 'message');
    await load(child, port, WARM_UP_S);
    servers.push({ kind, child, port, rounds: [] });
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const { child, port, rounds } of servers) rounds.push(await load(child, port, ROUND_S));
  }
  const print = (name: string, cells: string[]) =>
    console.log(name.padEnd(34) + cells.map((cell) => cell.padStart(14)).join(''));
  console.log(`Web forms posted over ${CONNECTIONS} connections, median of ${ROUNDS} rounds of ${ROUND_S} s\n`);
  print('', ['requests/s', '/ node:http', '/ express', 'p99 ms', 'CPU us a call', '/ node:http']);
  const [bare, other] = servers;
  for (const { kind, rounds } of servers) {
    const perSecond = median(rounds, 'perSecond');
    const cpuUs = median(rounds, 'cpuUs');
    const times = (value: number, base: Round[] | undefined, figure: keyof Round) =>
      `${(value / median(base ?? [], figure)).toFixed(2)} x`;
    print(kind, [
      Math.round(perSecond).toLocaleString('en'),
      times(perSecond, bare?.rounds, 'perSecond'),
      times(perSecond, other?.rounds, 'perSecond'),
      median(rounds, 'p99Ms').toFixed(0),
      cpuUs.toFixed(1),
      times(cpuUs, bare?.rounds, 'cpuUs'),
    ]);
  }
  if (!existsSync(CHILD_FILE)) console.log('\nNo real lambda was called: npm run build first.');
  for (const { child } of servers) child.disconnect();
  await Promise.all(servers.map(({ child }) => child.exitCode ?? once(child, 'exit')));
  rmSync(scratchDir, { recursive: true });
}

const [kind, scratchDir = '', upstreamPort] = process.argv.slice(2);
const known = kinds.find((one) => one === kind);
if (known) {
  process.on('disconnect', () => {
    if (known !== 'gateway, real lambda') process.exit();
  });
  await serve(known, scratchDir, Number(upstreamPort));
} else await main();
