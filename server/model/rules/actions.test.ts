import { expect, test } from 'vitest';
import { resourceTypes } from '../registry.ts';
import { type ActionRow, actionsByWord, actionsOf } from './actions.ts';

const NOUNS =
  'org workspace environment container job lambda api apiendpoint provider user group entitlement policy rule secret volume';
const EXTRA =
  'container.scale container.migrate container.promote container.import lambda.migrate lambda.promote lambda.invoke lambda.import apiendpoint.invoke secret.import volume.import';

test('an organization has every action there is, since anything may stand below it (D-116, D-213)', () => {
  const base = NOUNS.split(' ').flatMap((singular) =>
    ['create', 'view', 'update', 'delete'].map((verb) => `${singular}.${verb}`),
  );
  expect([...actionsOf({ type: 'Resource::Organization' })].sort()).toEqual([...base, ...EXTRA.split(' ')].sort());
});

test('an action that a resource has, whatever it may stand under has too', () => {
  const actions = actionsByWord(resourceTypes);
  for (const type of resourceTypes) {
    for (const parent of type.parents) {
      expect([...(actions.get(parent) ?? [])]).toEqual(
        expect.arrayContaining([...(actions.get(type.collection) ?? [])]),
      );
    }
  }
});

test('a resource has its own actions first, then those below it, but not those beside or above it', () => {
  const rows: ActionRow[] = [
    { collection: 'orgs', singular: 'org', parents: ['orgs'] },
    { collection: 'environments', singular: 'environment', parents: ['orgs'] },
    { collection: 'containers', singular: 'container', verbs: ['scale'], parents: ['environments'] },
    { collection: 'secrets', singular: 'secret', parents: ['environments'] },
  ];
  const actions = actionsByWord(rows);
  expect([...(actions.get('containers') ?? [])]).toEqual([
    'container.create',
    'container.view',
    'container.update',
    'container.delete',
    'container.scale',
    'entitlement.create',
    'entitlement.view',
    'entitlement.update',
    'entitlement.delete',
  ]);
  expect([...(actions.get('environments') ?? [])].slice(0, 4)).toEqual([
    'environment.create',
    'environment.view',
    'environment.update',
    'environment.delete',
  ]);
  expect(actions.get('environments')?.has('secret.view')).toBe(true);
  expect(actions.get('environments')?.has('org.view')).toBe(false);
  expect(actions.get('orgs')?.has('container.scale')).toBe(true);
});
