import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { startPlatform } from '../../testing/platform.ts';
import { keepIdleConnections } from './idle-connections.ts';

const announcedMs = ({ headers }: Pick<IncomingMessage, 'headers'>) =>
  1_000 * Number(/^timeout=(\d+)$/.exec(String(headers['keep-alive']))?.[1]);

it('keeps connections for seconds longer than announced', async () => {
  const server = createServer(keepIdleConnections(), (_request, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a server on a TCP port has one
  const agent = new Agent({ keepAlive: true });
  const ask = async () => {
    const [answer]: IncomingMessage[] = await once(get({ port, host: '127.0.0.1', agent }), 'response');
    if (!answer) throw new Error('no answer');
    const from = answer.socket.localPort; // the agent gets the socket back at the end of the response
    await answer.resume().toArray();
    return { from, headers: answer.headers };
  };
  const [first, second] = [await ask(), await ask()];
  expect(second.from).toBe(first.from);
  expect(announcedMs(first)).toBeGreaterThan(0);
  expect(server.keepAliveTimeout).toBeGreaterThanOrEqual(announcedMs(first) + 5_000);
  agent.destroy();
  server.close();
});

it('is how the control plane keeps them', async () => {
  const platform = await startPlatform();
  const [answer]: IncomingMessage[] = await once(
    get(`${platform.emulator.metaUrl}/health`, { agent: new Agent({ keepAlive: true }) }),
    'response',
  );
  expect(answer && announcedMs(answer)).toBe(5_000);
  answer?.destroy();
  await platform.stop();
});
