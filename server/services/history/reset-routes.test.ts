import { describe, expect, it } from 'vitest';
import { rootPairOf } from '../../testing/account.ts';
import { type Reply, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';

const platform = sharedPlatform({ seed: 'demo' });

const post = (path: string, body?: unknown): Promise<Reply> =>
  send('POST', `${platform.emulator.baseUrl}/inspect${path}`, { auth: rootPairOf(platform), body });
const reset = (body: object) => post('/reset', body);
const orgs = async (): Promise<string[]> =>
  (await platform.root.get('/orgs')).body.map(({ name }: { name: string }) => name).sort();

describe('POST {base_url}/inspect/reset', () => {
  it('shows the plan first, then replaces the world by one commit that can be undone', async () => {
    const organization = await platform.root.create('/root', { name: 'mine' });
    const dry = await reset({ seed: 'empty', dryRun: true });
    expect(dry.status).toBe(200);
    expect(dry.body.total.delete).toBeGreaterThan(10);
    expect(dry.body.commit).toBeUndefined();
    expect(await orgs()).toEqual(['demo', 'mine', 'root']);

    const { body } = await reset({ seed: 'empty' });
    expect(body.total).toEqual(dry.body.total);
    expect(body.resources).toContainEqual(
      expect.objectContaining({ path: '/mine', action: 'delete', id: organization.id }),
    );
    expect(await orgs()).toEqual(['root']);
    expect((await platform.root.get('/users/self')).body.name).toBe('root');
    expect((await platform.root.get('/root/providers')).body.length).toBeGreaterThan(0);

    expect((await post(`/history/${body.commit}/revert`)).status).toBe(200);
    expect((await platform.root.get('/mine')).body.id).toBe(organization.id);
  });

  it('keeps resources that match the seed, with their ids, and restores changed ones', async () => {
    const { id } = (await platform.root.get('/demo')).body;
    await platform.root.patch('/demo', [{ op: 'replace', path: '/description', value: 'changed' }]);
    const { body } = await reset({ seed: 'demo' });
    const paths = body.resources.map(({ path, action }: Record<string, string>) => `${action} ${path}`);
    expect(paths).toContain('update /demo');
    expect(paths).toContain('delete /mine');
    // It names the mock where that is now, not where the seed says.
    expect(paths).not.toContain('update /demo/delivery/integration/deploy');
    expect(body.total.create).toBe(0);
    expect((await platform.root.get('/demo')).body).toMatchObject({ id, description: 'Fern & Moss' });
    const signedIn = await platform.as('root');
    expect((await signedIn.get('/users/self')).status).toBe(200);
    expect((await reset({ seed: 'configured', dryRun: true })).body.total).toMatchObject({ create: 0, delete: 0 });
  });

  it('rejects an invalid seed, and users other than root', async () => {
    expect(await reset({ seed: '/etc/passwd' })).toMatchObject(refusal(400, '/seed'));
    const { status } = await send('POST', `${platform.emulator.baseUrl}/inspect/reset`, { body: { seed: 'demo' } });
    expect(status).toBe(401);
  });
});
