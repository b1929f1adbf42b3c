import suite from 'json-patch-test-suite/tests.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import { PlatformError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { applyPatch, type PatchRules, parsePatch } from './patch.ts';

const rules: PatchRules = {
  renamable: true,
  serverSet: ['fqon'],
  unreadable: ['password'],
  replaceCreates: ['/properties/linked_providers'],
};
const written = {
  name: 'a',
  description: 'd',
  tags: ['x'],
  properties: { env: { A: '1' }, password: 'hash' },
};
const shownAs = (record: JsonObject) => () => record;
const visibleRecord = { ...written, id: 'i', properties: { env: { A: '1' }, fqon: 'root.a' } };

function patched(...operations: JsonObject[]): JsonObject {
  return applyPatch(written, shownAs(visibleRecord), parsePatch(operations), rules);
}
function failure(run: () => unknown): PlatformError {
  try {
    run();
  } catch (error) {
    if (error instanceof PlatformError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

interface SuiteCase {
  comment?: string;
  doc: JsonObject[string];
  patch: JsonObject[];
  expected?: JsonObject[string];
  error?: string;
  disabled?: boolean;
}

describe('RFC 6902 below an open property (json-patch-test-suite)', () => {
  const at = '/properties/config/doc';
  const below = (pointer: unknown) => (typeof pointer === 'string' && /^(\/|$)/.test(pointer) ? at + pointer : pointer);
  const cases = (suite as unknown as SuiteCase[]).filter((testCase) => testCase.patch && !testCase.disabled);

  it.each(
    cases.map((testCase, index) => ({
      ...testCase,
      title: `${index} ${testCase.comment ?? testCase.error ?? JSON.stringify(testCase.patch)}`,
    })),
  )('$title', ({ doc, patch, expected, error }) => {
    const record = { name: 'p', properties: { config: { doc } } };
    const moved = patch.map((operation) => ({
      ...operation,
      ...('path' in operation && { path: below(operation.path) ?? null }),
      ...('from' in operation && { from: below(operation.from) ?? null }),
    }));
    const run = () => applyPatch(record, shownAs(record), parsePatch(moved as JsonObject[]), rules);
    if (error !== undefined) expect([400, 422]).toContain(failure(run).status);
    else expect(run()).toEqual({ name: 'p', properties: { config: { doc: expected ?? doc } } });
  });
});

describe('reading a patch document (D-091)', () => {
  it.each([
    [{ op: 'add' }, '/0'],
    [[1], '/0'],
    [[{ op: 'spam', path: '/name' }], '/0/op'],
    [[{ op: 'constructor', path: '/name' }], '/0/op'],
    [[{ op: 'remove' }], '/0/path'],
    [[{ op: 'add', path: '/name' }], '/0/value'],
    [[{ op: 'move', path: '/name' }], '/0/from'],
    [[{ op: 'remove', path: 'name' }], '/0/path'],
    [[{ op: 'remove', path: '' }], '/0/path'],
    [[{ op: 'remove', path: '/tags/~2' }], '/0/path'],
    [[{ op: 'remove', path: '/properties/__proto__' }], '/0/path'],
  ])('refuses %j with 400', (document, pointer) => {
    const error = failure(() => parsePatch(document));
    expect(error.status).toBe(400);
    if (Array.isArray(document)) expect(error.details?.[0]?.pointer).toBe(pointer);
  });
});

describe('editable properties (D-090, D-092, D-093, D-095)', () => {
  it('keeps order and leaves the given record alone', () => {
    const after = patched(
      { op: 'add', path: '/properties/env/B', value: '2' },
      { op: 'move', from: '/properties/env/B', path: '/properties/env/C' },
    );
    expect(after.properties).toMatchObject({ env: { A: '1', C: '2' } });
    expect(written.properties).toMatchObject({ env: { A: '1' } });
  });
  it('leaves the given record alone when a move shifts the array on the way to its target', () => {
    const record = { name: 'a', properties: { list: [{ x: 1 }, { y: 1 }, { z: 1 }] } };
    const move = { op: 'move', from: '/properties/list/0', path: '/properties/list/1/b' };
    const after = applyPatch(record, shownAs(record), parsePatch([move]), rules);
    expect(after.properties).toEqual({ list: [{ y: 1 }, { z: 1, b: { x: 1 } }] });
    expect(record.properties.list).toEqual([{ x: 1 }, { y: 1 }, { z: 1 }]);
  });
  it.each([
    [{ op: 'replace', path: '/id', value: 'j' }],
    [{ op: 'remove', path: '/id' }],
    [{ op: 'remove', path: '/name' }],
    [{ op: 'move', from: '/name', path: '/description' }],
    [{ op: 'replace', path: '/properties', value: {} }],
    [{ op: 'replace', path: '/properties/fqon', value: 'other' }],
    [{ op: 'test', path: '/properties/fqon', value: 'root.a' }],
    [{ op: 'copy', from: '/properties/fqon', path: '/description' }],
    [{ op: 'copy', from: '/properties/password', path: '/description' }],
    [{ op: 'test', path: '/properties/password', value: 'hash' }],
    [{ op: 'remove', path: '/properties/absent' }],
    [{ op: 'replace', path: '/properties/absent', value: 1 }],
    [{ op: 'replace', path: '/properties/constructor', value: 1 }],
    [{ op: 'add', path: '/properties/absent/deep', value: 1 }],
    [{ op: 'add', path: '/tags/9', value: 'y' }],
    [{ op: 'add', path: '/tags/x', value: 'y' }],
    [{ op: 'test', path: '/name', value: 'b' }],
    [{ op: 'test', path: '/properties/env', value: { hasOwnProperty: 1 } }],
    [{ op: 'add', path: '/properties/constructor/prototype', value: 1 }],
    [{ op: 'copy', from: '/tags/0', path: '/tags/9' }],
  ])('refuses %j with 422 that names the operation', (operation) => {
    const error = failure(() => patched(operation));
    expect(error.status).toBe(422);
    expect(error.message).toMatch(`operation 0 (${operation.path}): `);
    expect(error.details?.[0]?.pointer).toBe(operation.path);
  });
  it('accepts and ignores computed values in the patch of a client that compares whole records', () => {
    expect(
      patched(
        { op: 'remove', path: '/properties/fqon' },
        { op: 'replace', path: '/properties/fqon', value: 'root.a' },
        { op: 'add', path: '/id', value: 'i' },
      ),
    ).toEqual(written);
  });
  it('creates by replace only where the type says so', () => {
    expect(patched({ op: 'replace', path: '/properties/linked_providers', value: [] }).properties).toMatchObject({
      linked_providers: [],
    });
  });
  it('refuses to rename what cannot be renamed', () => {
    const run = () =>
      applyPatch(written, shownAs(visibleRecord), [{ op: 'replace', path: '/name', value: 'b' }], {
        ...rules,
        renamable: false,
      });
    expect(failure(run).status).toBe(422);
  });
});

describe('a patch of a record with a long array', () => {
  it('is limited for copies that multiply, with 400', () => {
    const copies = Array.from({ length: 30 }, (_, index) => ({
      op: 'copy',
      from: '/properties/config',
      path: `/properties/config/k${index}`,
    }));
    const run = () => patched({ op: 'add', path: '/properties/config', value: {} }, ...copies);
    expect(failure(run)).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^operation 17 \(\/properties\/config\/k16\): copies more than 100000 members/),
      details: [{ pointer: '/properties/config/k16' }],
    });
  });
  const long = { ...written, tags: Array.from({ length: 300_000 }, () => '') };
  const applied = (operation: JsonObject, times: number) =>
    applyPatch(long, shownAs(long), parsePatch(Array.from({ length: times }, () => operation)), rules);

  it('appends to it as often as it says', () => {
    const { tags } = applied({ op: 'copy', from: '/tags/9', path: '/tags/-' }, 2_000);
    expect(tags).toHaveLength(302_000);
  });
  it.each([
    { op: 'add', path: '/tags/0', value: '' },
    { op: 'remove', path: '/tags/0' },
    { op: 'move', from: '/tags/299999', path: '/tags/299990' },
    { op: 'copy', from: '/tags/9', path: '/tags/0' },
  ])('is refused when its operations move too many elements: $op', (operation) => {
    const error = failure(() => applied(operation, 5_000));
    expect(error.status).toBe(422);
    expect(error.message).toContain('long arrays');
  });
});
