import fc from 'fast-check';
import type { JsonObject } from '../model/json.ts';
import type { CommitRequest } from '../storage/world/world-store.ts';
import { record } from './small-world.ts';

/** JSON with member names that are difficult for patches. */
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
    // The generated values are JSON.
    .map((object) => object as JsonObject),
})).object;

/** Commits of all kinds on a few resources. */
const ids = Array.from({ length: 5 }, (_, i) => `00000000-0000-4000-8000-00000000010${i}`);
const arbitraryRecord = fc
  .record({ id: fc.constantFrom(...ids), description: fc.option(fc.string(), { nil: undefined }), properties })
  .map(({ description, ...members }) =>
    record('apis', 'api', { ...members, ...(description !== undefined && { description }) }),
  );
/** One commit: records put and removed. */
export const request: fc.Arbitrary<CommitRequest> = fc.record({
  put: fc.array(arbitraryRecord, { maxLength: 3 }),
  remove: fc.array(fc.constantFrom(...ids), { maxLength: 2 }),
});
/** A short history of a world. */
export const requests = fc.array(request, { minLength: 1, maxLength: 12 });
