import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectForTests, newWorldId } from '../../testing/engine.ts';
import { type EngineServer, startEngineServer } from '../../testing/engine-server.ts';
import { DockerEngine } from './docker/docker-engine.ts';
import { EngineConnection } from './engine-connection.ts';

const POLL = { timeout: 90_000, interval: 100 };

let server: EngineServer;
let connection: EngineConnection;
const states: string[] = [];
const faults: unknown[] = [];

beforeAll(async () => {
  server = await startEngineServer();
  const open = async () => new DockerEngine({ worldId: newWorldId(), connection: connectForTests(server.url) });
  connection = new EngineConnection(
    { address: server.url, open },
    {
      onInstances: () => undefined,
      onEvent: () => undefined,
      onState: ({ state }) => states.push(state.kind),
      onFault: (fault) => faults.push(fault),
    },
  );
});
afterAll(async () => {
  connection.stop();
  await server.stop();
  expect(faults).toEqual([]);
});

it('one answer that does not come in time does not make an engine unreachable, two in a row do', async () => {
  await connection.retry();
  const pings = () => server.requests.filter((url) => url.startsWith('/_ping')).length;
  const before = pings();
  server.answer(/^\/_ping/, () => server.reset());
  await expect.poll(pings, POLL).toBeGreaterThanOrEqual(before + 3);
  expect(states).toEqual(['ready']);
  server.answer(/^\/_ping/, () => undefined);
  await expect.poll(() => states, POLL).toEqual(['ready', 'unreachable']);
  expect(connection.state).toMatchObject({ reason: expect.stringContaining('does not respond') });
});
