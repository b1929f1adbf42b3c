import { afterAll, expect, it } from 'vitest';
import { connectForTests, newWorldId } from '../../../testing/engine.ts';
import { json, startEngineServer } from '../../../testing/engine-server.ts';
import { SwarmEngine } from './swarm-engine.ts';

const server = await startEngineServer();
const engine = new SwarmEngine({ worldId: newWorldId(), connection: connectForTests(server.url) });
afterAll(async () => {
  engine.close();
  await server.stop();
});

const service = (ID: string) => ({ ID, Version: { Index: 1 }, Spec: { Labels: {}, Mode: {} } });
const task = {
  ID: 'task',
  ServiceID: 'kept',
  CreatedAt: '2026-01-01T00:00:00Z',
  DesiredState: 'running',
  Spec: { ContainerSpec: { Image: 'shop:1' } },
  Status: { State: 'running', Timestamp: '2026-01-01T00:00:00Z' },
};

it('a service that is removed after it was listed does not hide the instances of others', async () => {
  server.answer(/^\/services/, json([service('kept'), service('removed')]));
  server.answer(/^\/tasks/, json([task]));
  server.answer(/^\/tasks.*removed/, json({ message: 'service removed not found' }, 404));
  expect(await engine.list()).toMatchObject([{ id: 'task', state: 'running' }]);
});

it('a removal of the only service after it was listed leaves no instances', async () => {
  server.answer(/^\/services/, json([service('removed')]));
  expect(await engine.list()).toEqual([]);
});
