import fc from 'fast-check';
import jsonPatch from 'fast-json-patch';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../model/json.ts';
import { record, rootId, smallWorld } from '../../testing/small-world.ts';
import { applyChanges, changeBetween, tryOperations } from './world-patch.ts';

const { applyPatch, compare } = jsonPatch;

/** Few names, so that two records have many in common; some that patches escape, some that objects put before all others. */
const names = fc.constantFrom('a', 'b', 'c', '10', '2', 'a/b', '~', '', 'constructor');
const values = fc
  .letrec<{ any: unknown; object: object }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('x', 'y', 0, 1, true, null),
      fc.array(tie('any'), { maxLength: 4 }),
      tie('object'),
    ),
    object: fc.dictionary(names, tie('any'), { maxKeys: 6, noNullPrototype: true }),
  }))
  .object.map((object) => object as JsonObject); // what is generated here is JSON

const base = record('apis', 'api');
const path = `/resources/${base.id}`;
const withPath = (operations: readonly object[]) =>
  operations.map((operation) => ({ ...operation, path: path + ('path' in operation ? operation.path : '') }));

test('a change is the same as from compare, in both directions, with the same order of operations and members', () => {
  fc.assert(
    fc.property(values, values, (had, has) => {
      const [before, changedRecord] = [had, has].map((properties) => ({ ...base, properties }));
      const difference = changeBetween(base.id, before, changedRecord);
      const patch = compare(before as object, changedRecord as object);
      const after = applyPatch(structuredClone(before), structuredClone(patch)).newDocument;
      const back = compare(after as object, before as object);
      const reported = { change: { before, after }, ops: withPath(patch), inverse: withPath(back) };
      expect(JSON.stringify(difference)).toBe(patch.length === 0 ? undefined : JSON.stringify(reported));
    }),
    { numRuns: 500 },
  );
});

test('unchanged parts are shared, and new ones are copied', () => {
  const before = { ...base, properties: { kept: { a: [1] }, changed: { b: [1], c: [2] } } };
  const changedRecord = structuredClone({
    ...before,
    properties: { ...before.properties, changed: { b: [1], c: [2, { d: 3 }] } },
  });
  const after = changeBetween(base.id, before, changedRecord)?.change.after;
  expect(after).toEqual(changedRecord);
  expect(after?.properties.kept).toBe(before.properties.kept);
  const changed = after?.properties.changed as typeof before.properties.changed;
  expect(changed.b).toBe(before.properties.changed.b);
  expect(changed.c[1]).not.toBe(changedRecord.properties.changed.c[1]);
});

test('a record keeps its id', () => {
  const other = record('apis', 'api');
  expect(() => changeBetween(base.id, base, other)).toThrow('/id must be');
});

test('operations have their effect', () => {
  const site = { ...base, tags: ['a'] };
  const resources = new Map([[site.id, site]]);
  const changes = tryOperations(resources, [
    { op: 'test', path: `${path}/name`, value: 'api' },
    { op: 'add', path: `${path}/properties/env`, value: {} },
    { op: 'add', path: `${path}/properties/env/A`, value: '1' },
    { op: 'move', from: `${path}/tags`, path: `${path}/properties/labels` },
  ]);
  applyChanges(resources, changes);
  expect(resources.get(site.id)?.properties).toEqual({ env: { A: '1' }, labels: ['a'] });
});

test.each([
  ['to a resource that is not there', { op: 'replace', path: `/resources/${smallWorld().id}/name`, value: 'x' }],
  ['with a failing test', { op: 'test', path: `/resources/${rootId}/name`, value: 'x' }],
  ['outside the resources', { op: 'replace', path: '/id', value: 'x' }],
  ['to all resources', { op: 'replace', path: '/resources', value: {} }],
  ['into a prototype', { op: 'add', path: `/resources/${rootId}/__proto__/x`, value: 1 }],
  ['to an id', { op: 'replace', path: `/resources/${rootId}/id`, value: smallWorld().id }],
] as const)('operations %s are refused and change nothing', (_case, operation) => {
  const resources = new Map(Object.entries(smallWorld().resources));
  const add = { op: 'add', path, value: base } as const;
  expect(() => tryOperations(resources, [add, operation])).toThrow(expect.objectContaining({ status: 422 }));
  expect(Object.fromEntries(resources)).toEqual(smallWorld().resources);
});
