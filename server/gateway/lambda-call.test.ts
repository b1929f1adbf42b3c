import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { expect, it } from 'vitest';
import { TestGateway, text } from '../testing/gateway.ts';

it('calls over one connection each have the context of their own request, and an execution id', async () => {
  const gateway = await new TestGateway().start();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    gateway.endpoint(
      gateway.api('web'),
      gateway.lambda(() => text('in')),
      { resource: '/a' },
    );
    const sockets = new Set<unknown>();
    const send = async (method: string, path: string, headers: Record<string, string>): Promise<void> => {
      const outgoing = request({ port: gateway.port, host: '127.0.0.1', method, path, headers, agent }).end();
      const [response]: IncomingMessage[] = await once(outgoing, 'response');
      sockets.add(outgoing.socket);
      await once(response?.resume() ?? outgoing, 'end');
    };
    await send('GET', '/web/a/b?x=1', { 'X-Who': 'one' });
    await send('GET', '/web/a/b?x=1', { 'X-Who': 'one' });
    await send('GET', '/web/a/b?x=2', { 'X-Who': 'one' });
    await send('GET', '/web/a/c?x=2', { 'X-Who': 'one' });
    await send('GET', '/web/a/c?x=2', { 'X-Who': 'two' });
    await send('PUT', '/web/a/c?x=2', { 'X-Who': 'two', 'Content-Length': '0' });
    expect(sockets.size).toBe(1);
    const contexts = gateway.calls.map(({ context: { method, path, params, headers } }) =>
      [method, path, params.x, headers['x-who']].join(' '),
    );
    expect(contexts).toEqual([
      'GET /b 1 one',
      'GET /b 1 one',
      'GET /b 2 one',
      'GET /c 2 one',
      'GET /c 2 two',
      'PUT /c 2 two',
    ]);
    expect(new Set(gateway.calls.map(({ executionId }) => executionId)).size).toBe(6);
  } finally {
    agent.destroy();
    await gateway.stop();
  }
});
