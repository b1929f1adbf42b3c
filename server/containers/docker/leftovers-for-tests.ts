import type { Uuid } from '../../model/ids.ts';
import { connectForTests } from './engine-for-tests.ts';
import { clearWorld } from './leftovers.ts';

/** Removes what a test's world left in the engine, whatever came of the test. */
export async function clearWorldForTests(worldId: Uuid): Promise<void> {
  const connection = connectForTests();
  await clearWorld(connection, worldId, { volumes: true, limitMs: 60_000 });
  connection.close();
}
