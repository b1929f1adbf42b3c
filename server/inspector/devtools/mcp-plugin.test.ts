import { expect, it } from 'vitest';
import { isFromThisMachine } from '../../plugin/reachable-url.ts';
import { startPlatform } from '../../testing/platform.ts';

const statusOfMcp = async (setting: 'all' | 'loopback' | 'off') => {
  const platform = await startPlatform({ mcp: setting });
  try {
    return (await fetch(`${platform.emulator.baseUrl}/mcp`, { method: 'POST' })).status;
  } finally {
    await platform.stop();
  }
};

it('requires credentials at /mcp, which does not exist if the setting mcp is off', async () => {
  expect(await statusOfMcp('loopback')).toBe(401);
  expect(await statusOfMcp('all')).toBe(401);
  expect(await statusOfMcp('off')).toBe(404);
});

it.each([
  [{ remoteAddress: '127.0.0.1', localAddress: '127.0.0.1' }, true],
  [{ remoteAddress: '::ffff:127.0.0.1', localAddress: '::ffff:127.0.0.1' }, true],
  [{ remoteAddress: '192.0.2.7', localAddress: '192.0.2.7' }, true],
  [{ remoteAddress: '192.0.2.8', localAddress: '192.0.2.7' }, false],
  [{}, false],
])('a connection with the addresses %j is from this machine: %s', (addresses, isLocal) => {
  expect(isFromThisMachine(addresses)).toBe(isLocal);
});
