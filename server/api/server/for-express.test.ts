import { once } from 'node:events';
import { createServer, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterEach, expect, it } from 'vitest';
import { forExpress } from './listening.ts';

class Marked extends ServerResponse {
  constructor(...args: ConstructorParameters<typeof ServerResponse>) {
    super(...args);
    this.setHeader('X-Mark', 'yes');
  }
}

let end: (() => void) | undefined;
afterEach(() => end?.());

/**
 * Sends a request to an express app; resolves to the response, and to whether express changed the prototype of the
 * request or response.
 */
async function ask(options: object) {
  const app = express();
  app.set('greeting', 'hello');
  app.get('/:name', (req, res) => {
    res.locals.name = req.params.name;
    res.status(201).json({ greeting: req.app.get('greeting'), name: res.locals.name, accepts: req.accepts('json') });
  });
  const changed: boolean[] = [];
  const server = createServer(forExpress(app, options), (req, res) => {
    const before = [req, res].map(Object.getPrototypeOf);
    app(req, res);
    changed.push(...[req, res].map((message, at) => Object.getPrototypeOf(message) !== before[at]));
  });
  end = () => server.close();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a server on a TCP port has one
  const answer = await fetch(`http://127.0.0.1:${port}/ada`, { headers: { Connection: 'close' } });
  return { changed, answer, body: await answer.json() };
}

it('gives requests and responses what express would, before it does', async () => {
  const { changed, answer, body } = await ask({});
  expect(changed).toEqual([false, false]);
  expect(answer.status).toBe(201);
  expect(body).toEqual({ greeting: 'hello', name: 'ada', accepts: 'json' });
});

it('makes responses of the class that the server has', async () => {
  const { changed, answer } = await ask({ ServerResponse: Marked });
  expect(changed).toEqual([false, false]);
  expect(answer.headers.get('x-mark')).toBe('yes');
});
