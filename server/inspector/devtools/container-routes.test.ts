import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { TERMINAL_PROTOCOL } from '../../model/terminal-protocol.ts';
import { rootPairOf } from '../../testing/account.ts';
import { sharedPlatform } from '../../testing/platform.ts';
import { resourceFactoryFor } from '../../testing/resource-factory.ts';
import { createTenant } from '../../testing/tenant.ts';

const platform = sharedPlatform();

it('a terminal cannot be opened from other pages, whatever credentials the browser sends', async () => {
  const tenant = await createTenant(platform.root, 'acme');
  const { id } = await resourceFactoryFor(platform.root).container(tenant, { image: 'none' });
  const { baseUrl } = platform.emulator;
  const statusFor = async (origin: string) => {
    const url = `${baseUrl.replace('http', 'ws')}/inspect/containers/${id}/terminal`;
    const headers = { authorization: rootPairOf(platform), origin };
    const socket = new WebSocket(url, [TERMINAL_PROTOCOL], { headers });
    socket.on('error', () => {});
    const [, answer]: [unknown, IncomingMessage] = await (once(socket, 'unexpected-response') as Promise<never>);
    return answer.statusCode;
  };
  expect(await statusFor('http://foreign.example')).toBe(403);
  // There is no container engine here.
  expect(await statusFor(baseUrl)).not.toBe(403);
});
