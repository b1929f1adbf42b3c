import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { toPlatformError } from '../../model/errors.ts';
import { GracefulShutdown, listenAt } from './listening.ts';

it('a stopping server refuses changes, still answers reads and requests that have begun, and then closes all connections', async () => {
  const shutdown = new GracefulShutdown();
  const waiting: ServerResponse[] = [];
  const events = new EventEmitter();
  const server = createServer((request, response) => {
    try {
      shutdown.track(request, response);
    } catch (refusal) {
      const { status, message } = toPlatformError(refusal);
      return void response.writeHead(status).end(message);
    }
    if (request.url !== '/slow') return void response.end('read');
    waiting.push(response);
    events.emit('waiting');
  });
  const { port } = await listenAt(server, { host: '127.0.0.1', port: 0 });
  const ask = async (method: string, path = '/') => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    return [answer.status, answer.headers.get('connection'), await answer.text()];
  };
  const slow = ask('POST', '/slow');
  await once(events, 'waiting');
  const silent = connect(port, '127.0.0.1');
  const closed = once(silent, 'close');
  await once(silent, 'connect');

  shutdown.begin();
  expect(await ask('POST')).toEqual([
    503,
    'close',
    expect.stringMatching(/^the platform is stopping, so the change was/),
  ]);
  expect(await ask('GET')).toEqual([200, 'close', 'read']);
  const order: string[] = [];
  const ended = shutdown.end(server, undefined, () => order.push('sealed'));
  order.push('answered');
  waiting[0]?.end('changed');
  expect(await slow).toEqual([200, 'close', 'changed']);
  await Promise.all([ended, closed]);
  expect(order).toEqual(['answered', 'sealed']);
});
