import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Commit } from '../../model/commit.ts';
import type { JsonObject } from '../../model/json.ts';
import type { StoredResource } from '../../model/record.ts';
import { maskedCommit, maskedRecord, unmaskedRecord } from '../../model/rules/masking.ts';
import { USER } from '../../model/type-names.ts';
import { SECRET } from '../../model/types/secret.ts';
import { changeBetween } from '../../storage/world/world-patch.ts';

const id = '00000000-0000-4000-8000-000000000002';
const at = '2024-05-01T12:00:00.000Z';
const common = { id, name: 'x', parent: null, state: 'Active', owner: id, created: { by: id, at } } as const;

const hidden = fc.string().map((text) => `sesame ${text}`);
const plainText = fc.string({ maxLength: 5 }).map((text) => `plain ${text}`);
const item = fc.record({ key: plainText, value: hidden });
const items = fc.uniqueArray(item, { maxLength: 4, selector: ({ key }) => key });
const credentials = fc.oneof(
  hidden,
  fc.dictionary(plainText, hidden, { maxKeys: 3, noNullPrototype: true }),
  fc.array(hidden),
);
const any = (value: unknown) => value as JsonObject; // what is generated here is JSON
const propertiesOf: Record<string, fc.Arbitrary<JsonObject>> = {
  [USER]: fc.record({ password: hidden, email: plainText }, { requiredKeys: ['email'] }).map(any),
  [SECRET]: fc.record({ items, note: plainText }).map(any),
  'Configuration::Provider::CaaS::Docker': fc
    .record(
      { config: fc.record({ auth: fc.record({ scheme: plainText, credentials }, { requiredKeys: ['scheme'] }) }) },
      { requiredKeys: [] },
    )
    .map(any),
};
const record = (type: string) =>
  (propertiesOf[type] ?? fc.constant({})).map((properties): StoredResource => {
    return { ...common, type, modified: { action: 'create', by: id, at }, properties };
  });

describe.each(Object.keys(propertiesOf))('the hidden values of a %s', (type) => {
  const state = fc.option(record(type), { nil: undefined });

  it('is in no returned commit, even for an unknown type', () => {
    fc.assert(
      fc.property(state, state, fc.boolean(), (before, after, isKnown) => {
        const commit: Commit = {
          seq: 1,
          atMs: 0,
          cause: { actor: null, via: 'api' },
          ops: changeBetween(id, before, after)?.ops ?? [],
          inverse: changeBetween(id, after, before)?.ops ?? [],
          resources: [{ id, type: isKnown ? type : 'Resource::Bygone', name: 'x', path: '/' }],
        };
        const masked = maskedCommit(commit);
        expect(JSON.stringify(masked)).not.toContain('sesame');
        const pathsOf = (operations: Commit['ops']) => operations.map(({ op, path }) => `${op} ${path}`);
        expect(pathsOf(masked.ops)).toEqual(pathsOf(commit.ops));
      }),
    );
  });

  it('is in no returned record, and restored to its place it gives the original record', () => {
    fc.assert(
      fc.property(record(type), (original) => {
        const masked = maskedRecord(original);
        expect(JSON.stringify(masked)).not.toContain('sesame');
        expect(unmaskedRecord(masked, original)).toEqual(original);
        expect(unmaskedRecord(masked, undefined)).toEqual(masked);
      }),
    );
  });
});
