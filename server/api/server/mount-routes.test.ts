import { createServer } from 'node:http';
import express from 'express';
import { expect, it, onTestFinished } from 'vitest';
import { listenAt } from './listening.ts';
import { lazyRoutes } from './mount-routes.ts';

it('are asked for by a request, once they are there no more, and again where they could not be had', async () => {
  let [isThere, loadCount] = [false, 0];
  const routes = lazyRoutes(async () => {
    loadCount += 1;
    if (!isThere) throw new Error('its part is not there');
    return (_req, res) => void res.sendStatus(204);
  });
  const server = createServer(express().use(routes));
  const { address, port } = await listenAt(server, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => void server.close());
  const status = async () => (await fetch(`http://${address}:${port}/`)).status;
  expect([loadCount, await status()]).toEqual([0, 500]);
  isThere = true;
  expect([await status(), await status(), loadCount]).toEqual([204, 204, 2]);
});
