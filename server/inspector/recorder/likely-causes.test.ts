import { expect, test } from 'vitest';
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
    likelyCausesFinder(
      store.history,
      store.view,
    )({
      lambdaId: lambda.id,
      fromMs: undefined,
      untilMs: Number.POSITIVE_INFINITY,
      text: 'the form has no oid',
      newestSeq: 1,
    });
  expect(await find()).toMatchObject({
    likelyCauses: [{ commit: { seq: 2 }, changes: ['removed CRM_OID'] }, { commit: { seq: 1 } }],
    historyFromMs: undefined,
  });
  await Promise.all(
    Array.from({ length: LATER }, (_, n) => store.commit({ put: [record('apis', `later ${n}`)] }, cause)),
  );
  expect(await find()).toEqual({ likelyCauses: [], historyFromMs: expect.any(Number) });
});
