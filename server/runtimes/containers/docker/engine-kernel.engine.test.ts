import { once } from 'node:events';
import { createServer } from 'node:http';
import { release } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectForTests, newWorldId } from '../../../testing/engine.ts';
import { DockerEngine } from './docker-engine.ts';

/** The version information that the engine returns. */
let version: object;
const instance = {
  Id: 'a',
  Image: 'b',
  State: { StartedAt: '', Running: true, Status: 'running' },
  Config: { Labels: {}, Image: 'shop:1' },
  HostConfig: {},
  NetworkSettings: {
    Networks: { one: { IPAddress: '172.17.0.2' } },
    Ports: { '80/tcp': [{ HostIp: '127.0.0.1', HostPort: '32768' }] },
  },
};
const answers: Readonly<Record<string, () => unknown>> = {
  '/_ping': () => 'OK',
  '/version': () => ({ Version: '28.0.1', ...version }),
  '/containers/json': () => [{ Id: 'a', Created: 1 }],
  '/containers/a/json': () => instance,
};
const standIn = createServer(({ url = '' }, res) => {
  res.setHeader('Content-Type', 'application/json').end(JSON.stringify(answers[url.replace(/\?.*/, '')]?.()));
});
let url: string;
beforeAll(async () => {
  standIn.listen(0, '127.0.0.1');
  await once(standIn, 'listening');
  const address = standIn.address();
  url = `tcp://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
});
afterAll(() => standIn.close());

it.each([
  ['on this kernel', { KernelVersion: release(), Platform: { Name: 'Docker Engine - Community' } }, true],
  ['that does not name its kernel', {}, true],
  // A tunnel, or the socket of a virtual machine under another name.
  ['on another kernel', { KernelVersion: '6.8.0-64-lima', Platform: { Name: 'Docker Engine - Community' } }, false],
  // In WSL, it has the kernel of the other distributions, but not their network.
  ['of Docker Desktop', { KernelVersion: release(), Platform: { Name: 'Docker Desktop 4.40.0 (187762)' } }, false],
])(
  'containers of an engine on loopback %s have an address that is valid here, or none',
  async (_which, versionInfo, isOwn) => {
    version = versionInfo;
    const engine = new DockerEngine({ worldId: newWorldId(), connection: connectForTests(url) });
    expect(await engine.ping()).toBe('Docker 28.0.1');
    const [found] = await engine.list();
    engine.close();
    expect(found?.ipAddress).toBe(isOwn && process.platform === 'linux' ? '172.17.0.2' : undefined);
    expect(found?.addresses).toEqual([{ containerPort: 80, host: '127.0.0.1', port: 32768 }]);
  },
);
