import { afterEach, beforeAll } from 'vitest';
import { rootPairOf } from './account.ts';
import { send } from './client.ts';
import type { Platform } from './platform.ts';

/**
 * Restores the world after each test to its state before the first one, so that the order of tests does not matter. Call it after the hooks
 * that create the world.
 */
export function restoreWorldAfterEach(platform: Platform): void {
  let before: number;
  const inspect = (method: string, path: string, body?: object) =>
    send(method, `${platform.emulator.baseUrl}/inspect${path}`, { auth: rootPairOf(platform), body });
  beforeAll(async () => {
    before = (await inspect('GET', '/history?limit=1')).body.newest;
  });
  afterEach(async () => {
    const { status, body } = await inspect('POST', '/restore', { at: before });
    if (status !== 200) throw new Error(`the world could not be restored: ${status} ${JSON.stringify(body)}`);
  });
}
