import fc from 'fast-check';
import { applyPatch } from 'fast-json-patch';
import { expect, it } from 'vitest';
import { editableOf, guarded, patchBetween, sortedLike } from './resource-patch.ts';

const properties = fc.dictionary(
  fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
  fc.jsonValue(),
);
const editable = fc.record({ name: fc.string(), properties });

it('leads from the old record to the new record', () => {
  fc.assert(
    fc.property(editable, editable, (before, after) => {
      const patch = guarded(before, patchBetween(before, after));
      const patched = applyPatch(structuredClone(before), structuredClone(patch), true).newDocument;
      expect(JSON.parse(JSON.stringify(patched))).toEqual(JSON.parse(JSON.stringify(after)));
    }),
    { numRuns: 50 },
  );
});

it('is rejected when another user changed the same property', () => {
  const before = { name: 'a', properties: { timeout: 20 } };
  const patch = guarded(before, patchBetween(before, { name: 'a', properties: { timeout: 25 } }));
  expect(() => applyPatch({ name: 'a', properties: { timeout: 30 } }, patch, true)).toThrow();
  expect(applyPatch({ name: 'b', properties: { timeout: 20 } }, patch, true).newDocument).toEqual({
    name: 'b',
    properties: { timeout: 25 },
  });
});

it('leaves out what only the server sets', () => {
  const record = {
    id: '1',
    name: 'a',
    resource_type: 'T',
    resource_state: 'S',
    org: { id: '2', typeId: '3' },
    properties: { parent: { id: '2' }, timeout: 20 },
  };
  expect(editableOf(record, new Set(['parent']))).toEqual({ name: 'a', properties: { timeout: 20 } });
});

it('keeps the order of members in comparisons, so that only changes appear', () => {
  const before = { name: 'a', description: 'x', properties: { env: { A: '1', B: '2' } } };
  const after = { properties: { env: { C: '3', B: '2', A: '0' } }, description: 'y', name: 'a' };
  expect(JSON.stringify(sortedLike(before, after))).toBe(
    JSON.stringify({ name: 'a', description: 'y', properties: { env: { A: '0', B: '2', C: '3' } } }),
  );
});
