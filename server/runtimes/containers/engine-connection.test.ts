import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AttachedEngine, attachedEngine } from '../../testing/attached-engine.ts';
import { type Answer, type EngineServer, json, startEngineServer } from '../../testing/engine-server.ts';
import type { EngineConnection } from './engine-connection.ts';

/** Long enough for the end of the events to arrive first. */
const LISTING_MS = 100;

let server: EngineServer;
let attached: AttachedEngine;
let connection: EngineConnection;

beforeEach(async () => {
  server = await startEngineServer();
  attached = attachedEngine(server);
  connection = attached.connection;
});
afterEach(async () => {
  connection.stop();
  await server.stop();
  expect(attached.faults).toEqual([]);
});

const webPage =
  (status: number): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end('<!DOCTYPE html><title>Sign in</title>');
const plain =
  (status: number, body = ''): Answer =>
  (response) =>
    response.writeHead(status).end(body);

describe('an engine that answers wrongly', () => {
  it.each<[string, RegExp, Answer, RegExp]>([
    ['a web page for its ping', /^\/_ping/, webPage(200), /it responds with a web page/],
    ['a web page with an error status for its ping', /^\/_ping/, webPage(502), /it responds with a web page/],
    ['a web page for its version', /^\/version/, webPage(200), /it responds with a web page/],
    ['a web page for its events', /^\/events/, webPage(200), /it responds with a web page/],
    ['a web page for its containers', /^\/containers/, webPage(200), /it responds with a web page/],
    ['text for its containers', /^\/containers/, plain(200, 'welcome'), /no container engine sends/],
    ['an error without a reason', /^\/containers/, plain(500), /status 500 and no reason/],
    ['a redirect', /^\/containers/, plain(301), /status 301 and no reason/],
    ['an error with a reason', /^\/containers/, json({ message: 'disk full' }, 500), /cannot be used: disk full$/],
    ['half of its containers', /^\/containers/, plain(200, '[{"Id":"ab'), /no container engine sends/],
    ['an object for its containers', /^\/containers/, json({}), /no container engine sends/],
    ['null for its containers', /^\/containers/, json(null), /no container engine sends/],
    ['other things for its containers', /^\/containers/, json([null, 1]), /no container engine sends/],
    ['a list for a container', /^\/containers/, json([{ Id: 'ab', Created: 1 }]), /no container engine sends/],
    ['a list for its version', /^\/version/, json([]), /no container engine sends/],
  ])('is away as long as it sends %s, with its address and the reason', async (_what, path, answer, reason) => {
    server.answer(path, answer);
    await connection.retry();
    expect(connection.state).toMatchObject({ kind: 'unreachable', reason: expect.stringMatching(reason) });
    expect(connection.state).toMatchObject({ reason: expect.stringContaining(server.url) });
    server.reset();
    await connection.retry();
    expect(connection.state.kind).toBe('ready');
  });
});

it('a connection whose events end while the containers are listed is lost', async () => {
  server.answer(/^\/events/, (response) => {
    response.writeHead(200).flushHeaders();
    server.answer(/^\/containers/, (list) => {
      response.end();
      setTimeout(() => json([])(list), LISTING_MS);
    });
  });
  await connection.retry();
  await expect.poll(() => attached.states).toContain('unreachable');
});

it('work that waits, for example for the health of new instances, keeps no other work from the engine', async () => {
  await connection.retry();
  const ends: (() => void)[] = [];
  const waiting = Array.from({ length: 20 }, () =>
    connection.use(() => new Promise<void>((resolve) => ends.push(resolve))),
  );
  expect(await connection.use(async () => 'done')).toBe('done');
  for (const end of ends) end();
  await Promise.all(waiting);
});
