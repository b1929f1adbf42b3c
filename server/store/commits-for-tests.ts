import fc from 'fast-check';
import type { JsonObject } from '../model/json.ts';
import { record } from './world-for-tests.ts';
import type { CommitRequest } from './world-store.ts';

/** JSON with the member names that patches trip over. */
const member = fc.oneof(
  fc.constantFrom('', '/', '~', '~1', 'a/b', '0', '-', 'constructor', 'toJSON', 'ü\u2028'),
  fc.string(),
);
const properties = fc.letrec<{ any: unknown; object: JsonObject }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc
    .dictionary(
      member.filter((name) => name !== '__proto__'),
      tie('any'),
      { maxKeys: 4, noNullPrototype: true },
    )
    // What is generated here is JSON.
    .map((object) => object as JsonObject),
})).object;

/** Commits of every kind on a handful of resources. */
const ids = Array.from({ length: 5 }, (_, i) => `00000000-0000-4000-8000-00000000010${i}`);
const one = fc
  .record({ id: fc.constantFrom(...ids), description: fc.option(fc.string(), { nil: undefined }), properties })
  .map(({ description, ...members }) =>
    record('apis', 'api', { ...members, ...(description !== undefined && { description }) }),
  );
/** One commit: records put and removed. */
export const request: fc.Arbitrary<CommitRequest> = fc.record({
  put: fc.array(one, { maxLength: 3 }),
  remove: fc.array(fc.constantFrom(...ids), { maxLength: 2 }),
});
/** A short life of a world. */
export const requests = fc.array(request, { minLength: 1, maxLength: 12 });
