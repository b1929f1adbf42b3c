import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { callBuildKit, field } from '../../testing/buildkit-client.ts';
import { openDockerBroker } from './docker-broker.ts';

const MARK = 'this-run';
const OWN_ID = 'a'.repeat(64);
const FOREIGN_ID = 'b'.repeat(64);
const JOB_IMAGE = {
  Id: `sha256:${'c'.repeat(64)}`,
  RepoTags: ['made:1'],
  Config: { Labels: { 'terrarium.project': 'g/p' } },
};
const BASE = { Id: `sha256:${'d'.repeat(64)}`, RepoTags: ['base:1'], Config: { Labels: null } };

/** Every path of the engine's API. */
const PATHS = `
GET /_ping | HEAD /_ping | GET /version | GET /info | POST /auth | GET /events | GET /system/df | POST /session | POST /grpc | POST /commit
GET /containers/json | POST /containers/create | POST /containers/prune | GET /containers/ID/json | GET /containers/ID/top
GET /containers/ID/logs | GET /containers/ID/changes | GET /containers/ID/export | GET /containers/ID/stats | POST /containers/ID/resize
POST /containers/ID/start | POST /containers/ID/stop | POST /containers/ID/restart | POST /containers/ID/kill | POST /containers/ID/update
POST /containers/ID/rename | POST /containers/ID/pause | POST /containers/ID/unpause | POST /containers/ID/attach
GET /containers/ID/attach/ws | POST /containers/ID/wait | DELETE /containers/ID | HEAD /containers/ID/archive | GET /containers/ID/archive
PUT /containers/ID/archive | POST /containers/ID/copy | POST /containers/ID/exec | GET /containers/ID/checkpoints
POST /containers/ID/checkpoints | DELETE /containers/ID/checkpoints/one | POST /exec/ID/start | POST /exec/ID/resize | GET /exec/ID/json
GET /images/json | POST /build | POST /build/prune | POST /build/cancel | POST /images/create | GET /images/NAME/json
GET /images/NAME/history | GET /images/NAME/attestations | POST /images/NAME/push | POST /images/NAME/tag | DELETE /images/NAME
GET /images/search | POST /images/prune | GET /images/NAME/get | GET /images/get | POST /images/load | GET /distribution/NAME/json
GET /networks | GET /networks/ID | DELETE /networks/ID | POST /networks/create | POST /networks/ID/connect
POST /networks/ID/disconnect | POST /networks/prune | GET /volumes | POST /volumes/create | GET /volumes/ID | PUT /volumes/ID
DELETE /volumes/ID | POST /volumes/prune | GET /swarm | POST /swarm/init | POST /swarm/join | POST /swarm/leave | POST /swarm/update
GET /swarm/unlockkey | POST /swarm/unlock | GET /nodes | GET /nodes/ID | DELETE /nodes/ID | POST /nodes/ID/update | GET /services
POST /services/create | GET /services/ID | DELETE /services/ID | POST /services/ID/update | GET /services/ID/logs | GET /tasks
GET /tasks/ID | GET /tasks/ID/logs | GET /secrets | POST /secrets/create | GET /secrets/ID | DELETE /secrets/ID
POST /secrets/ID/update | GET /configs | POST /configs/create | GET /configs/ID | DELETE /configs/ID | POST /configs/ID/update
GET /plugins | GET /plugins/privileges | POST /plugins/pull | GET /plugins/ID/json | DELETE /plugins/ID | POST /plugins/ID/enable
POST /plugins/ID/disable | POST /plugins/ID/upgrade | POST /plugins/create | POST /plugins/ID/push | POST /plugins/ID/set
GET /debug/pprof/heap | GET /metrics | POST /containers/ID/../../volumes/create`
  .trim()
  .split(/\s*[|\n]\s*/);
const VERSIONS = ['', '/v1.12', '/v1.23', '/v1.24', '/v1.41', '/v1.44', '/v1.99'];
const HOSTILE = {
  Image: 'base:1',
  Binds: ['/:/host'],
  HostConfig: { Binds: ['/:/host'], Privileged: true, NetworkMode: 'host', MaskedPaths: [], ReadonlyPaths: [] },
  hostconfig: { Binds: ['/:/host'] },
  Privileged: true,
  RemoteDriver: '/host',
};

interface Received {
  call: string;
  body: string;
  headers: IncomingMessage['headers'];
}

let folder: string;
let engine: Server;
let broker: Awaited<ReturnType<typeof openDockerBroker>>;
const received: Received[] = [];
/** Calls of BuildKit that reached the engine, with their messages. */
const solved: { path: string; message: string }[] = [];

/** The responses of the engine to what the broker itself reads. */
function described(path: string): object | undefined {
  const labels = { 'terrarium.world': MARK };
  if (path === '/version') return { ApiVersion: '1.41', MinAPIVersion: '1.12' };
  if (/\/containers\/(?:own|a{64})\/json$/.test(path)) return { Id: OWN_ID, Config: { Labels: labels } };
  if (path.includes('/containers/') && path.endsWith('/json')) return { Id: FOREIGN_ID, Config: { Labels: {} } };
  if (path.endsWith('/exec/own/json')) return { ID: 'e1', ContainerID: OWN_ID };
  if (path.endsWith('/exec/foreign/json')) return { ID: 'e2', ContainerID: FOREIGN_ID };
  if (path.includes('/images/made:1/')) return JOB_IMAGE;
  if (path.includes('/images/base:1/')) return BASE;
  return undefined;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'broker-'));
  engine = createServer((req, res) => {
    void text(req).then((body) => {
      const { method = '', url = '', headers } = req;
      received.push({ call: `${method} ${url}`, body, headers });
      const answer = described(url);
      res.writeHead(answer ? 200 : 404, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer ?? {}));
    });
  }).listen(join(folder, 'engine'));
  const buildKit = createHttp2Server().on('stream', (stream, headers) => {
    void text(stream).then((message) => {
      solved.push({ path: String(headers[':path']), message });
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '0' }, { endStream: true });
    });
  });
  engine.on('upgrade', (_req, socket) => {
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
    buildKit.emit('connection', socket);
  });
  await once(engine, 'listening');
  broker = await openDockerBroker({
    path: join(folder, 'socket'),
    engine: { socketPath: join(folder, 'engine') },
    world: { worldId: MARK },
    network: 'net1',
    project: 'g/p',
    registries: ['127.0.0.1:4703'],
    imageIds: new Map(),
  });
});
beforeEach(() => {
  received.length = 0;
  solved.length = 0;
});
afterAll(async () => {
  broker.close();
  engine.close();
  engine.closeAllConnections();
  await rm(folder, { recursive: true });
});

async function send(call: string, body?: string, headers: Record<string, string> = {}) {
  const [method, path] = call.split(' ');
  const type = { 'Content-Type': 'application/json' };
  const outgoing = request({
    socketPath: join(folder, 'socket'),
    method,
    path,
    headers: { ...(body !== undefined && { ...type, 'Content-Length': Buffer.byteLength(body) }), ...headers },
    agent: false,
  }).end(body);
  const [response] = await once(outgoing, 'response');
  return { status: response.statusCode as number, text: await text(response) };
}

it('of all paths of the API, in every version, only those of the table reach the engine, and only with known members', async () => {
  for (const path of PATHS)
    for (const version of VERSIONS)
      for (const [id, name] of [
        ['own', 'made:1'],
        ['foreign', 'base:1'],
      ] as const)
        for (const body of [undefined, JSON.stringify(HOSTILE)]) {
          const call = path.replace(' ', ` ${version}`).replace('ID', id).replace('NAME', name);
          const { status, text: message } = await send(call, body);
          if (status === 403) expect(JSON.parse(message).message).toMatch(/^(?:jobs|containers of jobs|this run) /);
          if (id === 'foreign' && path.includes('/ID')) expect([403, 404], call).toContain(status);
        }
  for (const { call, body, headers } of received) {
    expect(call).toMatch(/^\w+ (?:\/version$|\/v1\.41\/)/);
    // Archives are passed on as they are, in a form of which the engine reads no members of the query.
    if (headers['content-type'] !== 'application/x-tar') expect(body).not.toMatch(/host|Privileged|\[\]/i);
  }
  const calls = received.map(({ call }) => decodeURIComponent(call).replace('/v1.41', '').replace(OWN_ID, 'own'));
  const changing = [...new Set(calls)].filter((call) => !/^(?:GET|HEAD) /.test(call));
  expect(changing.sort()).toEqual([
    'DELETE /containers/own',
    'DELETE /images/made:1',
    'POST /build/cancel',
    'POST /build?labels={"terrarium.project":"g/p"}&networkmode=net1',
    'POST /containers/own/attach',
    'POST /containers/own/kill',
    'POST /containers/own/pause',
    'POST /containers/own/rename',
    'POST /containers/own/resize',
    'POST /containers/own/restart',
    'POST /containers/own/start',
    'POST /containers/own/stop',
    'POST /containers/own/unpause',
    'POST /containers/own/wait',
    'POST /exec/e1/resize',
    'POST /images/create?changes=LABEL+terrarium.project=g/p',
    'POST /images/load',
    'POST /images/made/push?tag=1',
    'PUT /containers/own/archive',
  ]);
});

it('a query member that is not in the table is refused', async () => {
  for (const call of [
    'POST /containers/own/start?checkpoint=c&checkpoint-dir=/etc',
    'POST /build?remote=http://127.0.0.1:4700/',
    'POST /build?networkmode=host',
    'POST /build?networkmode=other',
    'POST /build?cgroupparent=/',
    'POST /build?outputs=[{"Type":"moby","Attrs":{"name":"base:1"}}]',
    'POST /build?t=base:1',
    'POST /build?t=base:1&t=',
    'POST /build?t=new:1&t=docker.io/library/base:1',
    'POST /images/create?fromSrc=http://127.0.0.1/',
    'POST /images/create?fromSrc=-&repo=base&tag=1',
    'POST /images/made:1/tag?repo=base&tag=1',
    'POST /images/base:1/tag?repo=new&tag=1',
    'POST /images/base/push?tag=1',
    'POST /images/base:1/push',
    'GET /images/get?names=made:1&names=base:1',
  ]) {
    const { status } = await send(call.replaceAll('"', '%22'));
    expect([call, status]).toEqual([call, 403]);
  }
  expect(received.filter(({ call }) => !call.startsWith('GET '))).toEqual([]);
});

it('names of images reach the engine whole, so that it cannot take them for others', async () => {
  for (const call of [
    'POST /images/create?fromImage=new:2&tag=1',
    'POST /images/create?fromImage=new&tag=1:2',
    'POST /images/made:1/tag?repo=base:1&tag=2',
  ])
    expect([call, (await send(call)).status]).toEqual([call, 400]);
  expect(received.filter(({ call }) => call.startsWith('POST '))).toEqual([]);
  await send('POST /images/create?fromImage=new');
  const pulls = received.filter(({ call }) => call.startsWith('POST ')).map(({ call }) => call);
  expect(pulls).toEqual(['POST /v1.41/images/create?fromImage=new&tag=latest']);
  // Without a tag, the engine would save all images of the repository.
  await send('GET /images/get?names=docker.io/library/made:1');
  expect(received.map(({ call }) => call)).toContain('GET /v1.41/images/get?names=made%3A1');
});

it('a body that is a form cannot change the query of a build', async () => {
  await send('POST /build?t=new:1', 't=base:1&networkmode=host', {
    'Content-Type': 'application/x-www-form-urlencoded',
  });
  const [build] = received.filter(({ call }) => call.includes('/build'));
  expect(build?.headers['content-type']).toBe('application/x-tar');
  expect(build?.call).toContain('networkmode=net1');
});

it('members of a new container that the engine would read in another case are refused', async () => {
  for (const body of [
    { Image: 'base:1', hostConfig: { binds: ['/:/host'] } },
    { Image: 'base:1', HostConfig: { binds: ['/:/host'] } },
    { Image: 'base:1', HostConfig: { 'Bind\u017f': ['/:/host'] } },
    { Image: 'base:1', HostConfig: { MaskedPaths: [] } },
    { Image: 'base:1', HostConfig: { ReadonlyPaths: [''] } },
    { Image: 'base:1', HostConfig: { PidMode: 'host' } },
    { Image: 'base:1', HostConfig: { IpcMode: 'host' } },
    { Image: 'base:1', HostConfig: { CgroupnsMode: 'host' } },
    { Image: 'base:1', Volumes: { '/:/host': {} } },
    { Image: 'base:1', NetworkingConfig: { EndpointsConfig: { host: {} } } },
  ])
    expect([body, (await send('POST /containers/create', JSON.stringify(body))).status]).toEqual([body, 403]);
  expect(received.filter(({ call }) => call.startsWith('POST '))).toEqual([]);
});

it('a new container has the label and the network of the run, whatever its request says', async () => {
  const createRequest = {
    Image: 'base:1',
    Labels: { 'terrarium.world': 'other-run', own: 'label' },
    HostConfig: { MaskedPaths: null, Binds: null, NetworkMode: 'default', Memory: 1000 },
    NetworkingConfig: { EndpointsConfig: { default: { Aliases: ['db'], IPAMConfig: null } } },
    readonlypaths: [],
  };
  await send('POST /v1.50/containers/create?name=web', JSON.stringify(createRequest));
  const [created] = received.filter(({ call }) => call.startsWith('POST '));
  expect(created?.call).toBe('POST /v1.41/containers/create?name=web');
  expect(JSON.parse(created?.body ?? '')).toEqual({
    Image: 'base:1',
    Labels: { 'terrarium.world': MARK, own: 'label' },
    HostConfig: { MaskedPaths: null, NetworkMode: 'net1', Memory: 1000 },
    NetworkingConfig: { EndpointsConfig: { net1: { Aliases: ['db'] } } },
  });
});

it('only requests that change the protocol of their connection may ask for that', async () => {
  const socket = connect(join(folder, 'socket'));
  socket.write('POST /containers/own/start HTTP/1.1\r\nHost: d\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1.1 403 /);
  expect(received.filter(({ call }) => call.startsWith('POST '))).toEqual([]);
});

it('a base image that a job removes stays, and the job goes on', async () => {
  expect(await send('DELETE /images/base:1?force=1')).toEqual({ status: 200, text: '[]' });
  expect(await send('POST /images/create?fromImage=base&tag=1')).toMatchObject({ status: 200 });
  expect((await send('DELETE /images/none:1')).status).toBe(404);
  expect(received.filter(({ call }) => !call.startsWith('GET '))).toEqual([]);
  await send('DELETE /images/made:1');
  expect(received.at(-1)?.call).toBe('DELETE /v1.41/images/made:1');
});

it('a build with BuildKit gets no privileges, no name of an image of others, and no caches of others', async () => {
  const call = (path: string, ...fields: Buffer[]) => callBuildKit(join(folder, 'socket'), path, Buffer.concat(fields));
  const control = '/moby.buildkit.v1.Control';
  const named = (name: string) => Buffer.concat([field(1, 'name'), field(2, name)]);
  for (const name of ['Prune', 'DiskUsage', 'ListenBuildHistory', 'UpdateBuildHistory'])
    expect(await call(`${control}/${name}`), name).toMatchObject({ status: '7' });
  for (const name of ['NewContainer', 'ExecProcess'])
    expect(await call(`/moby.buildkit.v1.frontend.LLBBridge/${name}`), name).toMatchObject({ status: '7' });
  for (const refused of [
    field(9, 'network.host'),
    field(9, 'security.insecure'),
    field(4, named('base:1')),
    field(4, named('docker.io/library/base:1')),
    field(4, Buffer.concat([named('new:1'), named('base:1')])),
    field(4, named('new:1,base:1')),
    field(13, Buffer.concat([field(1, 'image'), field(2, named('base:1'))])),
    field(4, named('*')),
    Buffer.from([0x25, 0, 0, 0, 0]),
    // Numbers of fields that some readers shorten.
    Buffer.from([0xca, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0]),
  ])
    expect(await call(`${control}/Solve`, field(1, 'ref'), refused)).toMatchObject({ status: '7' });
  expect(solved).toEqual([]);
  for (const name of ['new:1', 'made:1'])
    expect(await call(`${control}/Solve`, field(4, named(name)))).toMatchObject({ status: '0' });
  expect(solved).toHaveLength(2);
  for (const { message } of solved) expect(message).toContain('label:terrarium.project');
});
