import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import type { Instance } from './engine.ts';
import { PortCheck } from './port-check.ts';
import { probeHealth } from './probe-health.ts';
import { Readiness } from './readiness.ts';

const server = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
await once(server, 'listening');
// As: a listening TCP server has such an address.
const { port } = server.address() as AddressInfo;

const instance = (state: Instance['state'], startedAtMs = 0): Instance => ({
  id: 'one',
  recordId: '00000000-0000-4000-8000-000000000001',
  kind: 'container',
  revision: '1',
  image: 'shop:1',
  imageId: undefined,
  state,
  health: 'none',
  failedCheck: undefined,
  healthLimitMs: 0,
  cpus: undefined,
  restarts: 0,
  startedAtMs,
  exitCode: undefined,
  wasKilledForMemory: false,
  error: undefined,
  ipAddress: undefined,
  addresses: [{ containerPort: 80, host: '127.0.0.1', port }],
});

it('an instance whose ports have opened is open as soon as it runs again after a pause, and not after an end', async () => {
  const readiness = new Readiness({
    nowMs: Date.now,
    onChange: () => {},
    listeningSockets: async () => undefined,
    onFault: (fault) => {
      throw fault;
    },
  });
  const isOpen = () => readiness.stateOf('one').open !== undefined;
  const see = (state: Instance['state'], startedAtMs?: number) =>
    readiness.attend([instance(state, startedAtMs)], () => []);
  try {
    see('running');
    expect(isOpen()).toBe(false);
    await expect.poll(isOpen).toBe(true);
    see('paused');
    see('running');
    expect(isOpen()).toBe(true);
    see('restarting');
    see('running');
    expect(isOpen()).toBe(false);
    await expect.poll(isOpen).toBe(true);
    // The engine has restarted it before it could be seen.
    see('running', 1);
    expect(isOpen()).toBe(false);
    await expect.poll(isOpen).toBe(true);
  } finally {
    readiness.stop();
    server.close();
  }
});

it('a check by HTTPS of a program that does not speak it says that, without the words of the TLS library', async () => {
  const plain = createHttpServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const { port: plainPort } = plain.address() as AddressInfo; // as above
  const probe = { protocol: 'HTTPS' as const, path: '/', containerPort: 80, intervalMs: 1_000, timeoutMs: 60_000 };
  const served = { ...instance('running'), addresses: [{ containerPort: 80, host: '127.0.0.1', port: plainPort }] };
  const result = await new Promise((resolve) => {
    const stop = probeHealth(served, [{ ...probe, graceMs: 0, failures: 1 }], {
      nowMs: Date.now,
      ports: new PortCheck(),
      onCheck({ failedCheck }) {
        stop();
        resolve(failedCheck?.result);
      },
    });
  });
  plain.close();
  expect(result).toBe('no TLS connection (wrong version number)');
});

it('failed checks count if the clock is set back between them', async () => {
  let setByMs = 0;
  const seen: (string | undefined)[] = [];
  const probe = {
    protocol: 'TCP' as const,
    path: '/',
    containerPort: 81,
    intervalMs: 1,
    timeoutMs: 100,
    graceMs: 0,
    failures: 3,
  };
  const ports = { opens: async () => false } as unknown as PortCheck;
  const stop = probeHealth(instance('running'), [probe], {
    nowMs: () => Date.now() + setByMs,
    ports,
    onCheck: ({ verdict }) => {
      seen.push(verdict);
      setByMs -= 24 * 3_600_000;
    },
  });
  try {
    await expect.poll(() => seen.at(-1)).toBe('unhealthy');
  } finally {
    stop();
  }
});
