import type { Uuid } from '../model/record.ts';
import { clearWorld } from '../runtimes/containers/docker/leftovers.ts';
import { connectForTests } from './engine.ts';

/** Removes everything that the world of a test left in the engine, whatever its result. */
export async function removeTestWorld(worldId: Uuid): Promise<void> {
  const connection = connectForTests();
  await clearWorld(connection, { worldId }, { volumes: true, limitMs: 60_000 });
  connection.close();
}
