import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { passOn } from './platform-route.ts';

/** Closes a connection as soon as it may, as Docker's engine does. In a thread of its own, because it answers while a request is being ended. */
const ENGINE = `const { createServer } = require('node:net');
const { parentPort } = require('node:worker_threads');
createServer((socket, request = '') => socket.once('error', () => {}).on('data', (part) => {
  request += part;
  const isRefusable = /^expect:/im.test(request);
  if (!request.includes('hello') && !isRefusable) return;
  socket.write('HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nhi');
  if (isRefusable || /^connection: close/im.test(request)) socket.destroySoon();
})).listen(process.argv[2], () => parentPort.postMessage('ready'));`;

it('passes on every response of an engine that responds while its request is being ended', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'terrarium pass on '));
  const [engine, forwarder] = [join(dir, 'engine.sock'), join(dir, 'forwarder.sock')];
  const thread = new Worker(ENGINE, { eval: true, argv: [engine] });
  await once(thread, 'message');
  const server = createServer((req, res) => {
    passOn(req, res, { socketPath: engine, method: req.method, path: req.url, headers: req.headers, agent: false }, {});
  }).listen(forwarder);
  await once(server, 'listening');
  const answers = new Set<string>();
  for (let count = 0; count < 200; count += 1) {
    const headers = { expect: '100-continue' };
    const outgoing = request({ socketPath: forwarder, method: 'POST', headers, agent: false }).end('hello');
    const [answer] = await once(outgoing, 'response');
    answers.add(`${answer.statusCode} ${await text(answer)}`);
  }
  server.close();
  server.closeAllConnections();
  await thread.terminate();
  await rm(dir, { recursive: true });
  expect([...answers]).toEqual(['200 hi']);
});
