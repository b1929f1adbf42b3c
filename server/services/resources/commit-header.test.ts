import { beforeAll, describe, expect, it } from 'vitest';
import { basic, type Reply, send } from '../../testing/checked-client.ts';
import { sharedPlatform } from '../../testing/platform.ts';
import { resourceFactoryFor } from '../../testing/resource-factory.ts';
import { createTenant, type Tenant } from '../../testing/tenant.ts';

const platform = sharedPlatform();
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant(platform.root, 'headers');
});

const commitsOf = (reply: Reply) => reply.headers.get('X-Terrarium-Commit');
const rootKey = () =>
  basic(platform.emulator.rootCredentials.apiKey, platform.emulator.rootCredentials.apiSecret ?? '');
const newest = async () => {
  const history = await send('GET', `${platform.emulator.baseUrl}/inspect/history?limit=1`, { auth: rootKey() });
  return String(history.body.commits[0].seq);
};

describe('X-Terrarium-Commit: the response to a change names its commits', () => {
  it('of a create, a patch, a replace and a delete', async () => {
    const lambda = await resourceFactoryFor(platform.root).lambda(tenant);
    const path = `${tenant.org}/lambdas/${lambda.id}`;
    const created = await platform.root.post(`${tenant.org}/workspaces`, { name: 'second' });
    expect([created.status, commitsOf(created)]).toEqual([201, await newest()]);
    const patched = await platform.root.patch(path, [{ op: 'add', path: '/description', value: 'new' }]);
    expect(commitsOf(patched)).toBe(await newest());
    const deleted = await platform.root.delete(path);
    expect([deleted.status, commitsOf(deleted)]).toEqual([204, await newest()]);
  });

  it('of roles that are given', async () => {
    const user = await platform.root.create('/root/users', { name: 'reader', properties: { password: 'a password' } });
    const reply = await send('PUT', `${platform.emulator.baseUrl}/inspect/roles/${tenant.workspaceId}`, {
      auth: rootKey(),
      body: { identities: [user.id], role: 'viewer' },
    });
    expect([reply.status, commitsOf(reply)]).toEqual([200, await newest()]);
  });

  it('is absent where nothing was changed: a read, a refusal, a patch without effect', async () => {
    const path = `${tenant.org}/workspaces/${tenant.workspaceId}`;
    const replies = await Promise.all([
      platform.root.get(path),
      platform.root.patch(path, [{ op: 'replace', path: '/name', value: '' }]),
      platform.root.patch(path, [{ op: 'replace', path: '/name', value: 'ws' }]),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([200, 400, 200]);
    expect(replies.map(commitsOf)).toEqual([null, null, null]);
  });
});
