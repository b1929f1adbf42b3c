import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { connectForTests } from '../../../testing/engine.ts';
import { describeLeftovers, lockedSentence } from '../leftover-sentence.ts';
import { clearWorld } from './leftovers.ts';

const WORLD = '11111111-2222-4333-8444-555555555555';
const NETWORK = { Id: 'ab12', Name: 'terrarium-network', Scope: 'local', Labels: { 'terrarium.world': WORLD } };

let server: Server;
afterEach(() => server.close());

/** An engine with one network, which it refuses to remove with the answer of Docker 20.10 while it counts endpoints. */
async function engineWithNetwork(containers: object, isRemovable: () => boolean): Promise<string> {
  let isRemoved = false;
  server = createServer(({ method, url = '' }, response) => {
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (method === 'DELETE' && !isRemovable())
      return answer(403, { message: `error while removing network: network ${NETWORK.Name} has active endpoints` });
    if (method === 'DELETE') isRemoved = true;
    if (url.includes('/networks/')) return answer(200, { ...NETWORK, Containers: containers });
    if (url.includes('/networks')) return answer(200, isRemoved ? [] : [NETWORK]);
    if (url.includes('/volumes')) return answer(200, { Volumes: [] });
    if (url.includes('/containers')) return answer(200, []);
    return answer(503, { message: 'This node is not a swarm manager.' });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP server has one
}

async function clear(url: string, limitMs: number, lockedAfterMs?: number) {
  const connection = connectForTests(url);
  const options = { volumes: true, limitMs, ...(lockedAfterMs !== undefined && { lockedAfterMs }) };
  const leftovers = await clearWorld(connection, { worldId: WORLD }, options);
  connection.close();
  return leftovers;
}

describe('a network that the engine does not remove', () => {
  const none = { containers: [], services: [], networks: [], volumes: [] };

  it('is locked, not left behind, when nothing is in it', async () => {
    const leftovers = await clear(await engineWithNetwork({}, () => false), 30_000);
    expect(leftovers).toEqual({ ...none, lockedNetworks: [NETWORK.Name] });
    expect(describeLeftovers(leftovers)).toBe('1 network (terrarium-network) until the engine is restarted');
    expect(lockedSentence('ADDRESS', [NETWORK.Name])).toBe(
      'the container engine at ADDRESS keeps 1 network (terrarium-network), although no container uses it: restart the engine, then run `npx terrarium-emulator clean`',
    );
  });

  it('is left behind when another program has a container in it', async () => {
    const url = await engineWithNetwork({ cd34: { Name: 'foreign' } }, () => false);
    expect(await clear(url, 4_000)).toEqual({ ...none, networks: [NETWORK.Name] });
  });

  it('is removed when its last container has gone', async () => {
    let attempts = 0;
    expect(await clear(await engineWithNetwork({}, () => ++attempts > 2), 60_000, 60_000)).toEqual(none);
  });
});
