import { describe, expect, it } from 'vitest';
import { isFromThisMachine } from '../../plugin/reachable-url.ts';
import { basic, send } from '../../testing/client.ts';
import { sharedPlatform, startPlatform } from '../../testing/platform.ts';

const SNAPSHOTS = { name: 'read_route', arguments: { route: 'listSnapshots' } };

const post = (baseUrl: string, headers: Record<string, string> = {}, params: object = SNAPSHOTS) =>
  fetch(`${baseUrl}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });

describe('POST /mcp', () => {
  const platform = sharedPlatform();
  const rootKey = () => {
    const { apiKey, apiSecret = '' } = platform.emulator.rootCredentials;
    return basic(apiKey, apiSecret);
  };

  it('requires valid credentials', async () => {
    const { baseUrl } = platform.emulator;
    expect((await post(baseUrl)).status).toBe(401);
    expect((await post(baseUrl, { Authorization: basic('wrong', 'wrong') })).status).toBe(401);
  });

  it('rejects pages of other origins, even with credentials', async () => {
    const headers = { Authorization: rootKey(), Origin: 'http://other.example' };
    const response = await post(platform.emulator.baseUrl, headers);
    expect([response.status, await response.json()]).toMatchObject([403, { reason: 'origin_not_allowed' }]);
  });

  it.each(['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Real-IP', 'Via'])(
    'rejects what a reverse proxy on this machine forwards with the header %s',
    async (header) => {
      const response = await post(platform.emulator.baseUrl, { Authorization: rootKey(), [header]: '192.0.2.8' });
      expect([response.status, await response.json()]).toMatchObject([403, { reason: 'address_not_allowed' }]);
    },
  );

  it('calls a tool with the credentials of the request', async () => {
    const { baseUrl } = platform.emulator;
    expect(await (await post(baseUrl, { Authorization: rootKey() })).text()).not.toContain('isError');
    const password = 'a long enough password';
    await platform.root.create('/root/users', { name: 'stranger', properties: { password } });
    const token = await fetch(`${platform.emulator.securityUrl}/root/oauth/issue`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'password', username: 'stranger', password }),
    });
    const { access_token: accessToken } = JSON.parse(await token.text());
    const answer = await (await post(baseUrl, { Authorization: `Bearer ${accessToken}` })).text();
    expect(answer).toContain('forbidden: ');
    expect(answer).toContain('"isError":true');
  });

  it('uses its presets for arguments that are null', async () => {
    const headers = { Authorization: rootKey() };
    const call = async (input: object) => {
      const answer = await (
        await post(platform.emulator.baseUrl, headers, { name: 'list_changes', arguments: input })
      ).text();
      return answer.replaceAll(/data-\w+/g, 'data');
    };
    expect(await call({ brief: null, limit: null, part: null, skip: null })).toBe(await call({}));
  });

  it('rejects a plan of a state from which an undo has removed something since', async () => {
    const { id } = await platform.root.create('/root/orgs', { name: 'planned' });
    const path = `/root/orgs/${id}`;
    const described = await platform.root.patch(path, [{ op: 'add', path: '/description', value: 'a shop' }]);
    await platform.root.patch(path, [{ op: 'add', path: '/tags', value: ['live'] }]);
    const call = async (name: string, input: object) => {
      const params = {
        name,
        arguments: { route: 'deleteResource', path: { fqon: 'root', resource_id: id }, ...input },
      };
      return (await post(platform.emulator.baseUrl, { Authorization: rootKey() }, params)).text();
    };
    const [, plan] = /plan\W+(\w{16})/.exec(await call('plan_change', {})) ?? [];
    const commit = described.headers.get('x-terrarium-commit');
    const undo = `${platform.emulator.baseUrl}/inspect/history/${commit}/revert`;
    expect((await send('POST', undo, { auth: rootKey() })).status).toBe(200);
    expect(await call('apply_change', { plan })).toContain('Call plan_change again');
  });

  it('does not return an archive as text', async () => {
    const params = { name: 'read_route', arguments: { route: 'exportArchive' } };
    const answer = await (await post(platform.emulator.baseUrl, { Authorization: rootKey() }, params)).text();
    expect(answer).toContain("there is no operation 'exportArchive'");
  });
});

it('does not serve /mcp if the setting mcp is off', async () => {
  const platform = await startPlatform({ mcp: 'off' });
  try {
    expect((await post(platform.emulator.baseUrl)).status).toBe(404);
  } finally {
    await platform.stop();
  }
});

it.each([
  [{ remoteAddress: '127.0.0.1', localAddress: '127.0.0.1' }, true],
  [{ remoteAddress: '::ffff:127.0.0.1', localAddress: '::ffff:127.0.0.1' }, true],
  [{ remoteAddress: '192.0.2.7', localAddress: '192.0.2.7' }, true],
  [{ remoteAddress: '192.0.2.8', localAddress: '192.0.2.7' }, false],
  [{}, false],
])('a connection with the addresses %j is from this machine: %s', (addresses, isLocal) => {
  expect(isFromThisMachine({ socket: addresses, headers: {} })).toBe(isLocal);
});
