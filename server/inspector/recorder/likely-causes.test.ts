import { expect, test, vi } from 'vitest';
import { openStore } from '../../storage/world/world-store.ts';
import { cause, record, testOptions } from '../../testing/small-world.ts';
import { likelyCausesFinder } from './likely-causes.ts';

/** One more than are looked through. */
const LATER = 2_001;

test('a cause before the searched history is reported as unknown, not as missing', async () => {
  const store = await openStore(testOptions());
  const lambda = record('lambdas', 'form', { properties: { env: { CRM_OID: '1' } } });
  await store.commit({ put: [lambda] }, cause);
  await store.commit({ put: [{ ...lambda, properties: { env: {} } }] }, cause);
  const find = () =>
    likelyCausesFinder(store.history, store.view)(
      { lambdaId: lambda.id, fromMs: undefined, untilMs: Number.POSITIVE_INFINITY },
      'the form has no oid',
    );
  expect(await find()).toMatchObject({
    likelyCauses: [{ commit: { seq: 2 }, changes: ['removed CRM_OID'] }, { commit: { seq: 1 } }],
    historyFromMs: undefined,
  });
  await Promise.all(
    Array.from({ length: LATER }, (_, n) => store.commit({ put: [record('apis', `later ${n}`)] }, cause)),
  );
  expect(await find()).toEqual({ likelyCauses: [], historyFromMs: expect.any(Number) });
});

test('the history is searched once for a run of failures, whatever is committed and fails later', async () => {
  const store = await openStore(testOptions());
  const lambda = record('lambdas', 'form', { properties: { env: { CRM_OID: '1' } } });
  await store.commit({ put: [lambda] }, cause);
  await store.commit({ put: [{ ...lambda, properties: { env: {} } }] }, cause);
  await store.commit({ put: [{ ...lambda, properties: { env: {}, timeout: 20 } }] }, cause);
  const search = vi.spyOn(store.history, 'commits');
  const find = likelyCausesFinder(store.history, store.view);
  const query = { lambdaId: lambda.id, fromMs: undefined, untilMs: Number.POSITIVE_INFINITY };
  const changesFor = async (text: string) => (await find(query, text)).likelyCauses.map(({ changes }) => changes[0]);
  expect((await changesFor('the form has no oid')).slice(0, 2)).toEqual(['removed CRM_OID', 'set timeout']);
  await store.commit({ put: [record('apis', 'later')] }, cause);
  expect((await changesFor('the timeout was reached')).slice(0, 2)).toEqual(['set timeout', 'removed CRM_OID']);
  expect(search).toHaveBeenCalledTimes(1);
});
