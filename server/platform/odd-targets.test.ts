import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { send } from '../testing/checked-client.ts';
import { sharedPlatform } from '../testing/platform.ts';

const platform = sharedPlatform();

/** The status of the response to a request target that `fetch` would change. */
async function statusOf(url: string, target: string, cookie = ''): Promise<number> {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.end(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`);
  return Number((await text(socket)).split(' ', 2)[1]);
}

it.each(['baseUrl', 'gatewayUrl', 'scmUrl'] as const)(
  'a target that is no URL is no internal error at %s',
  async (name) => {
    const url = platform.emulator[name];
    for (const target of ['/\\', '/\\\\x', '//[', '//']) expect(await statusOf(url, target), target).toBeLessThan(500);
  },
);

it('is none in a session of the window either', async () => {
  const { baseUrl, windowUrl } = platform.emulator;
  const code = new URL(windowUrl()).searchParams.get('code');
  const { headers } = await send('POST', `${baseUrl}/inspect/session`, { body: { code } });
  const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? '';
  expect(await statusOf(baseUrl, '/\\', cookie)).toBe(400);
});
