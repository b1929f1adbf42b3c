import { expect, it, onTestFinished } from 'vitest';
import { attachedEngine } from '../../testing/attached-engine.ts';
import { startEngineServer } from '../../testing/engine-server.ts';

const POLL = { timeout: 90_000, interval: 100 };

it('one answer that does not come in time does not make an engine unreachable, two in a row do', async () => {
  const server = await startEngineServer();
  const { connection, states, faults } = attachedEngine(server);
  onTestFinished(async () => {
    connection.stop();
    await server.stop();
  });
  await connection.retry();
  const pings = () => server.requests.filter((url) => url.startsWith('/_ping')).length;
  const before = pings();
  server.answer(/^\/_ping/, () => server.reset());
  await expect.poll(pings, POLL).toBeGreaterThanOrEqual(before + 3);
  expect(states).toEqual(['ready']);
  server.answer(/^\/_ping/, () => undefined);
  await expect.poll(() => states, POLL).toEqual(['ready', 'unreachable']);
  expect(connection.state).toMatchObject({ reason: expect.stringContaining('does not respond') });
  expect(faults).toEqual([]);
});
