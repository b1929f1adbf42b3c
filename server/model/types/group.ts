import { z } from 'zod';
import { formFacts } from '../form-facts.ts';
import type { Uuid } from '../ids.ts';
import { idIn, type Json } from '../json.ts';
import type { StoredResource } from '../record.ts';
import { aUser, idOrLinkOf } from '../reference-facts.ts';
import type { ResourceType } from '../resource-type.ts';
import type { WorldView } from '../world-view.ts';

declare module '../type-words.ts' {
  interface TypeWords {
    groups: true;
  }
}

export const GROUP = 'Resource::Group';

const USERS = '/properties/users';

/** The id in an element of `users` as it may be sent: an id or a link. */
function memberId(sent: Json | undefined): Uuid | undefined {
  return typeof sent === 'string' ? sent.toLowerCase() : idIn(sent);
}

/** Ids of a group's members. */
export function memberIds(record: Pick<StoredResource, 'properties'>): Uuid[] {
  const { users } = record.properties;
  return Array.isArray(users) ? users.flatMap((sent) => memberId(sent) ?? []) : [];
}

/** The users in a group, in its order. */
export function membersOf(record: StoredResource, view: WorldView): StoredResource[] {
  return memberIds(record).flatMap((id) => view.find(id) ?? []);
}

/** The groups that a user is a member of; one may also name the user because a right on it was granted. */
export function groupsOf(user: StoredResource, view: WorldView): StoredResource[] {
  return view.referrers(user.id, 'groups').filter((one) => memberIds(one).includes(user.id));
}

/** D-071, D-073. */
export const group: ResourceType = {
  name: GROUP,
  word: 'groups',
  noun: 'group',
  summary: 'Users who have rights in common.',
  parents: ['orgs'],
  properties: z.strictObject({
    users: z
      .array(idOrLinkOf({ to: aUser, whenGone: 'forgets', missing: 400 }, 'must be the id of a user'))
      .optional()
      .describe('Ids of users on write, links on read')
      .register(formFacts, { label: 'Members', order: 1 }),
  }),
  serverSet: [],
  // D-072.
  listedBelow: { users: groupsOf },

  admit: (draft) => ({ properties: { ...draft.properties, users: [...new Set(memberIds(draft))] } }),

  rewrite(operation, record) {
    if (operation.path !== USERS) return operation;
    if (operation.op === 'add' && !Array.isArray(operation.value)) {
      return { ...operation, path: `${USERS}/-` };
    }
    // RFC 6902 gives remove no value; this platform does (D-073). A list of them must not remove everybody.
    const value = operation.op === 'remove' ? (operation as { value?: Json }).value : undefined;
    if (value === undefined) return operation;
    const gone = [value].flat().map(memberId);
    return { op: 'replace', path: USERS, value: memberIds(record).filter((id) => !gone.includes(id)) };
  },

  present(record, { view, link }) {
    return { ...record.properties, users: membersOf(record, view).map(link) };
  },
};
