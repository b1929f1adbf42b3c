import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { mountedRoutes, type RouteGuard, routerOf } from '../../api/server/mount-routes.ts';
import { type StatusOptions, statusRouter } from './status-routes.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** The open routes over a platform with these failures. */
async function statusOf(failed: string[]): Promise<(path: string) => Promise<{ status: number; body: unknown }>> {
  const options: StatusOptions = {
    version: '1.2.3',
    nowMs: () => Date.UTC(2030, 0, 2, 3, 4, 5, 6),
    status: () => ({ failed, services: { containers: 'no engine' } }),
    baseUrlFor: () => 'http://here',
  };
  const app = express();
  // No authentication is required.
  const anonymous = { callerOf: () => expect.unreachable() } as Partial<RouteGuard> as RouteGuard;
  app.use(
    routerOf(
      statusRouter({ answer: (table, handlers) => mountedRoutes(table, anonymous as never, handlers) }, options),
    ),
  );
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(() => server.close());
  const { port } = server.address() as AddressInfo; // a server on a TCP port always has one
  return async (path) => {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: reply.status, body: await reply.json() };
  };
}

describe('how the platform fares (D-015)', () => {
  it('is healthy, though an engine is away', async () => {
    const get = await statusOf([]);
    expect(await get('/health')).toEqual({ status: 200, body: { status: 'healthy' } });
    expect(await get('/about')).toEqual({
      status: 200,
      body: {
        status: 'healthy',
        url: 'http://here',
        time: '2030-01-02T03:04:05.006Z',
        version: '1.2.3',
        services: { containers: 'no engine' },
      },
    });
  });

  it('is not when storage fails: 503 that names what does', async () => {
    const get = await statusOf(['the disk is full', 'the journal is gone']);
    expect(await get('/health')).toEqual({
      status: 503,
      body: {
        status: 'unhealthy',
        message: 'the disk is full; the journal is gone',
        failed: ['the disk is full', 'the journal is gone'],
      },
    });
    expect(await get('/about')).toMatchObject({ status: 200, body: { status: 'unhealthy' } });
  });
});
