import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { docsRoutes } from './docs-routes.ts';

const script = createRequire(import.meta.url).resolve('openapi-explorer/dist/browser/openapi-explorer.min.js');

const server = createServer(
  express().use(
    docsRoutes({
      document: (request) => ({ openapi: '3.1.0', servers: [{ url: `http://${request.headers.host}` }] }),
      gatewayUrl: () => 'http://127.0.0.1:4701/behind/a/proxy',
      assetsDir: dirname(script),
    }),
  ),
);
let base: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // listening on TCP it is not a string
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('the documentation page', () => {
  it('is a page that refers to nothing outside, and to nothing that is not there', async () => {
    const reply = await fetch(`${base}/docs`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const page = await reply.text();
    const addresses = [...page.matchAll(/(?:src|href|spec-url)="([^"]+)"/g)].map(([, found = '']) => found);
    const loaded = addresses.filter((address) => !address.startsWith('data:'));
    expect(new Set(loaded)).toEqual(new Set(['docs/openapi-explorer.min.js', 'openapi.json']));
    expect(page.replaceAll(/(?:src|href|spec-url)="[^"]+"/g, '')).not.toMatch(/https?:|\/\/|@import|url\(/);
    for (const address of loaded) {
      expect((await fetch(new URL(address, `${base}/docs`))).status, address).toBe(200);
    }
  });

  it('lets the browser load our script only, and send requests to the two listeners only', async () => {
    const policy = (await fetch(`${base}/docs`)).headers.get('content-security-policy') ?? '';
    const directives = new Map(policy.split('; ').map((one) => [one.split(' ')[0], one.split(' ').slice(1).join(' ')]));
    expect(directives.get('default-src')).toBe("'none'");
    expect(directives.get('script-src')).toBe("'self'");
    expect(directives.get('connect-src')).toBe("'self' http://127.0.0.1:4701");
    expect(directives.get('frame-ancestors')).toBe("'none'");
  });

  it('sends a browser that asks with a trailing slash to where its addresses are right', async () => {
    const reply = await fetch(`${base}/docs/`);
    expect(reply.url).toBe(`${base}/docs`);
    expect(reply.status).toBe(200);
  });

  it('serves nothing else', async () => {
    for (const path of ['/docs/nothing.js', '/docs/..%2fpackage.json', '/docs/%2e%2e/package.json']) {
      expect((await fetch(base + path)).status, path).toBe(404);
    }
  });
});

describe('the document', () => {
  it('is served with the address that the client used', async () => {
    const reply = await fetch(`${base}/openapi.json`);
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await reply.json()).toEqual({ openapi: '3.1.0', servers: [{ url: base }] });
  });
});
