import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { docsRouter } from './docs-routes.ts';

const script = createRequire(import.meta.url).resolve('openapi-explorer/dist/browser/openapi-explorer.min.js');
// pnpm, npx and git worktrees put packages below folders whose names begin with a dot.
const assetsDir = await mkdtemp(join(tmpdir(), '.terrarium-docs-'));

const GATEWAY_URL = 'http://127.0.0.1:4701/behind/a/"proxy"';
let timesMade = 0;

const server = createServer(
  express().use(
    docsRouter({
      document: ({ baseUrl, gatewayUrl }, name) => {
        if (name === 'platform') timesMade++;
        return { openapi: '3.1.0', info: { description: `curl ${baseUrl}/meta` }, servers: [baseUrl, gatewayUrl] };
      },
      addresses: ({ headers }) => ({ baseUrl: `http://${headers.host}`, gatewayUrl: GATEWAY_URL }),
      assetsDir,
    }),
  ),
);
let base: string;

beforeAll(async () => {
  await copyFile(script, join(assetsDir, basename(script)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // listening on TCP it is not a string
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(assetsDir, { recursive: true, force: true });
});

describe('the documentation page', () => {
  it('refers to nothing outside, and only to existing files', async () => {
    const reply = await fetch(`${base}/docs`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const page = await reply.text();
    const addresses = [...page.matchAll(/(?:src|href|spec-url)="([^"]+)"/g)].map(([, found = '']) => found);
    const loaded = addresses.filter((address) => !address.startsWith('data:'));
    const pages = ['platform', 'gateway', 'inspect'].map((name) => `docs?document=${name}`);
    expect(new Set(loaded)).toEqual(new Set(['docs/openapi-explorer.min.js', 'openapi.json', ...pages]));
    expect(page.replaceAll(/(?:src|href|spec-url)="[^"]+"/g, '')).not.toMatch(/https?:|\/\/|@import|url\(/);
    for (const address of loaded) {
      expect((await fetch(new URL(address, `${base}/docs`))).status, address).toBe(200);
    }
  });

  it('allows the browser to load only our script, and to send requests to the two listeners only', async () => {
    const policy = (await fetch(`${base}/docs`)).headers.get('content-security-policy') ?? '';
    const directives = new Map(
      policy.split('; ').map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1).join(' ')]),
    );
    expect(directives.get('default-src')).toBe("'none'");
    expect(directives.get('script-src')).toBe("'self'");
    expect(directives.get('connect-src')).toBe("'self' http://127.0.0.1:4701");
    expect(directives.get('frame-ancestors')).toBe("'none'");
  });

  it('redirects a browser with a trailing slash to the address without it', async () => {
    const reply = await fetch(`${base}/docs/`);
    expect(reply.url).toBe(`${base}/docs`);
    expect(reply.status).toBe(200);
  });

  it.each(['platform', 'gateway', 'inspect'])('shows the document of its address: %s', async (name) => {
    const page = await (await fetch(`${base}/docs?document=${name}`)).text();
    const [, address = ''] = page.match(/spec-url="([^"]+)"/) ?? [];
    expect(address).toBe(name === 'platform' ? 'openapi.json' : `openapi.${name}.json`);
    expect((await fetch(new URL(address, `${base}/docs`))).status).toBe(200);
    expect(page).toContain(`<a href="docs?document=${name}" aria-current="page">`);
  });

  it('serves nothing else', async () => {
    for (const path of ['/docs/nothing.js', '/docs/..%2fpackage.json', '/docs/%2e%2e/package.json']) {
      expect((await fetch(base + path)).status, path).toBe(404);
    }
  });
});

describe('the document', () => {
  const read = (headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${base}/openapi.json`, { method, headers });

  it('is served with the addresses that the client used', async () => {
    const reply = await read();
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await reply.json()).toEqual({
      openapi: '3.1.0',
      info: { description: `curl ${base}/meta` },
      servers: [base, GATEWAY_URL],
    });
  });

  it('is made once for all clients', async () => {
    for (const host of ['a', 'b']) {
      const { port } = new URL(base);
      const [answer] = await once(get({ port, path: '/openapi.json', headers: { host } }), 'response');
      expect(JSON.parse(Buffer.concat(await answer.toArray()).toString()).servers[0]).toBe(`http://${host}`);
    }
    expect(timesMade).toBe(1);
  });

  it('is not sent again to a client that has it', async () => {
    const etag = (await read()).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const [tags, status] of [
      [etag, 304],
      [`"other", W/${etag}`, 304],
      ['*', 304],
      ['"other"', 200],
    ] as const) {
      const reply = await read({ 'If-None-Match': tags });
      expect([tags, reply.status]).toEqual([tags, status]);
      expect(reply.headers.get('etag')).toBe(etag);
      expect((await reply.text()) === '').toBe(status === 304);
    }
    const head = await read({}, 'HEAD');
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
  });

  it('has another tag where a client uses other addresses', async () => {
    const etag = (await read()).headers.get('etag') ?? '';
    const named = await fetch(`${base.replace('127.0.0.1', 'localhost')}/openapi.json`, {
      headers: { 'If-None-Match': etag },
    });
    expect(named.status).toBe(200);
    expect(named.headers.get('etag')).not.toBe(etag);
  });
});
