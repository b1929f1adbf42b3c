import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import type { Instance } from './engine.ts';
import { PortCheck } from './port-check.ts';

// As an engine's proxy does for a container that does not listen, on a machine that is busy.
const proxy = createServer((socket) => setTimeout(() => socket.destroy(), 500)).listen(0, '127.0.0.1');
await once(proxy, 'listening');
// As: a listening TCP server has such an address.
const { port } = proxy.address() as AddressInfo;
afterAll(() => proxy.close());

const instance = (ipAddress: string, host = '127.0.0.1'): Instance => ({
  id: 'one',
  recordId: '00000000-0000-4000-8000-000000000001',
  kind: 'container',
  revision: '1',
  image: 'shop:1',
  imageId: undefined,
  state: 'running',
  health: 'none',
  failedCheck: undefined,
  healthLimitMs: 0,
  cpus: undefined,
  restarts: 0,
  startedAtMs: 0,
  exitCode: undefined,
  wasKilledForMemory: false,
  error: undefined,
  ipAddress,
  addresses: [{ containerPort: 1, host, port }],
});

describe('a port of an instance that does not listen', () => {
  it('is closed, although the answer comes while the event loop is busy', async () => {
    const portCheck = new PortCheck().opens(instance('127.0.0.2'), 1, 1_000);
    const until = performance.now() + 400;
    while (performance.now() < until);
    expect(await portCheck).toBe(false);
  });

  it('is closed, although the proxy of the engine accepts connections, once an instance was reached itself', async () => {
    const ports = new PortCheck();
    await ports.opens(instance('127.0.0.2'), 1, 1_000);
    // The broadcast address cannot be reached.
    expect(await ports.opens(instance('255.255.255.255'), 1, 1_000)).toBe(false);
  });
});
