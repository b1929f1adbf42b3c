import { beforeAll, describe, expect, it } from 'vitest';
import { rootPairOf } from '../../testing/account.ts';
import { type Reply, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';

const platform = sharedPlatform();
let seqBefore: number;
let id: string;
beforeAll(async () => {
  await platform.root.create('/root', { name: 'kept' });
  seqBefore = (await inspect('/history?limit=1')).body.newest;
  id = (await platform.root.create('/root', { name: 'later', description: 'first' })).id;
  await platform.root.patch('/later', [{ op: 'replace', path: '/description', value: 'second' }]);
  await platform.root.delete('/kept');
});

const inspect = (path: string): Promise<Reply> =>
  send('GET', `${platform.emulator.baseUrl}/inspect${path}`, { auth: rootPairOf(platform) });
const pathsIn = ({ body }: Reply) => body.resources.map(({ path }: { path: string }) => path);

describe('GET {base_url}/inspect/world/outline', () => {
  it('lists the resources of a moment by path', async () => {
    const then = await inspect(`/world/outline?at=${seqBefore}`);
    expect(then.body).toMatchObject({ seq: seqBefore, total: then.body.resources.length });
    expect(pathsIn(then)).toEqual([...pathsIn(then)].sort());
    expect(pathsIn(then)).toContain('/kept');
    const now = await inspect('/world/outline');
    expect([pathsIn(now).includes('/kept'), pathsIn(now).includes('/later')]).toEqual([false, true]);
  });

  it('filters by words and returns pages', async () => {
    const found = await inspect('/world/outline?q=ORG%20later');
    expect(found.body).toMatchObject({ total: 1, resources: [{ id, name: 'later', path: '/later' }] });
    const { body } = await inspect('/world/outline?offset=1&limit=2');
    expect(body.resources).toHaveLength(2);
    expect(body.resources).toEqual((await inspect('/world/outline')).body.resources.slice(1, 3));
  });

  it.each([
    ['?at=999999', 404],
    ['?limit=x', 400],
    ['?when=1', 400],
  ])('%s is %i', async (query, status) => {
    expect(await inspect(`/world/outline${query}`)).toMatchObject(refusal(status));
  });
});

describe('the history for lists', () => {
  it('omits operations with brief=true, and returns the kept range', async () => {
    const { body } = await inspect('/history?brief=true&limit=2');
    expect(body).toMatchObject({ oldest: 0, newest: seqBefore + 3, next: seqBefore + 2 });
    expect(body.commits[0]).toMatchObject({ seq: seqBefore + 3, operations: 1, resources: [{ path: '/kept' }] });
    expect(body.commits[0]).not.toHaveProperty('ops');
    expect(body.commits[0]).not.toHaveProperty('inverse');
  });

  it('counts differences, and returns the patch of one resource', async () => {
    const brief = await inspect(`/diff?from=${seqBefore}&brief=true`);
    expect(brief.body).toMatchObject({ ops: [], total: { create: 1, update: 0, delete: 1 } });
    expect(pathsIn(brief).sort()).toEqual(['/kept', '/later']);
    const resourceDifference = await inspect(`/diff?from=${seqBefore + 1}&resource=${id}`);
    expect(resourceDifference.body).toMatchObject({
      total: { create: 0, update: 1, delete: 0 },
      resources: [{ path: '/later', action: 'update' }],
    });
    expect(resourceDifference.body.ops).toContainEqual({
      op: 'replace',
      path: `/resources/${id}/description`,
      value: 'second',
    });
  });
});
