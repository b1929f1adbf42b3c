import { expect, test } from 'vitest';
import { cause, record, testOptions } from '../store/world-for-tests.ts';
import { openStore } from '../store/world-store.ts';
import { knownSuspects } from './suspects.ts';

/** One more than are looked through. */
const LATER = 2_001;

test('a cause that lies further back than one looks is told as one that nobody knows, not as none', async () => {
  const store = await openStore(testOptions());
  const lambda = record('lambdas', 'form', { properties: { env: { CRM_OID: '1' } } });
  await store.commit({ put: [lambda] }, cause);
  await store.commit({ put: [{ ...lambda, properties: { env: {} } }] }, cause);
  const find = () =>
    knownSuspects(
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
    suspects: [{ commit: { seq: 2 }, deeds: ['removed CRM_OID'] }, { commit: { seq: 1 } }],
    historyFromMs: undefined,
  });
  await Promise.all(
    Array.from({ length: LATER }, (_, n) => store.commit({ put: [record('apis', `later ${n}`)] }, cause)),
  );
  expect(await find()).toEqual({ suspects: [], historyFromMs: expect.any(Number) });
});
