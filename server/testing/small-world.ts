import { randomUUID } from 'node:crypto';
import type { Cause } from '../model/commit.ts';
import type { StoredResource, World } from '../model/record.ts';
import { typeOfWord } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { StoreOptions } from '../storage/world/world-store.ts';

// Small worlds for the tests of the storage.

const AT = '2024-05-01T12:00:00.000Z';
export const rootId = '00000000-0000-4000-8000-000000000001';
export const cause: Cause = { actor: null, via: 'startup' };

export function record(collection: TypeWord, name: string, members: Partial<StoredResource> = {}): StoredResource {
  return {
    id: randomUUID(),
    type: typeOfWord(collection).name,
    name,
    parent: rootId,
    state: 'Active',
    owner: rootId,
    created: { by: rootId, at: AT },
    modified: { action: 'create', by: rootId, at: AT },
    properties: {},
    ...members,
  };
}

export function smallWorld(): World {
  const root = record('orgs', 'root', { id: rootId, parent: null });
  return { format: 1, id: '00000000-0000-4000-8000-00000000000f', resources: { [rootId]: root } };
}

/** Options for a store of small worlds; an unexpected warning fails the test. */
export function testOptions(options: Partial<StoreOptions> = {}): StoreOptions {
  return {
    medium: { kind: 'memory' },
    createWorld: smallWorld,
    nowMs: () => 1_700_000_000_000,
    fsync: 'never',
    freeze: true,
    onWarning(message) {
      throw new Error(`unexpected warning: ${message}`);
    },
    ...options,
  };
}
