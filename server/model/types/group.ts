import { z } from 'zod';
import { elementsOf, idIn, type Json } from '../json.ts';
import { aUser, formFacts, idOrLinkOf } from '../property-facts.ts';
import type { StoredResource, Uuid, WorldView } from '../record.ts';
import type { ResourceType } from '../resource-type.ts';
import { USER } from '../type-names.ts';
import { EXAMPLE_ID } from './schema-parts.ts';

export const GROUP = 'Resource::Group';

const USERS = '/properties/users';

export function memberIds(record: Pick<StoredResource, 'properties'>): Uuid[] {
  return elementsOf(record.properties.users).flatMap((member) => idIn(member) ?? []);
}

export function membersOf(record: StoredResource, view: WorldView): StoredResource[] {
  return memberIds(record).flatMap((id) => view.find(id) ?? []);
}

export function groupsOf(user: StoredResource, view: WorldView): StoredResource[] {
  return view.referrers(user.id, 'groups').filter((candidate) => memberIds(candidate).includes(user.id));
}

/** True for users and groups, which entitlements can name (D-074). */
export function isIdentity(record: StoredResource | undefined): record is StoredResource {
  return record?.type === USER || record?.type === GROUP;
}

/** D-071, D-073. */
export const group: ResourceType = {
  name: GROUP,
  collection: 'groups',
  singular: 'group',
  summary: 'Users who share permissions.',
  parents: ['orgs'],
  properties: z.strictObject({
    users: z
      .array(idOrLinkOf({ to: aUser, onDelete: 'forgets', missing: 400 }, 'must be the id of a user'))
      .optional()
      .describe('Ids of users on write, links on read')
      .register(formFacts, { label: 'Members', order: 1 }),
  }),
  example: { name: 'developers', properties: { users: [EXAMPLE_ID] } },
  serverSet: [],
  // D-072.
  listedBelow: { users: groupsOf },

  validate: (draft) => ({ properties: { ...draft.properties, users: [...new Set(memberIds(draft))] } }),

  rewrite(operation, record) {
    if (operation.path !== USERS) return operation;
    if (operation.op === 'add' && !Array.isArray(operation.value)) {
      return { ...operation, path: `${USERS}/-` };
    }
    // RFC 6902 defines no value for remove, but this platform accepts one (D-073). Without this check, a remove with a list would remove
    // all users.
    const value = operation.op === 'remove' ? (operation as { value?: Json }).value : undefined;
    if (value === undefined) return operation;
    const removedIds = new Set([value].flat().map(idIn));
    return { op: 'replace', path: USERS, value: memberIds(record).filter((id) => !removedIds.has(id)) };
  },

  toView(record, { view, link }) {
    return { ...record.properties, users: membersOf(record, view).map(link) };
  },
};
