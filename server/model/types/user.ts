import { z } from 'zod';
import { invalid, PlatformError } from '../errors.ts';
import { formFacts, secretFacts } from '../property-facts.ts';
import type { ResourceType } from '../resource-type.ts';
import { findOrganization } from '../rules/hierarchy.ts';
import { USER } from '../type-names.ts';
import { groupsOf, membersOf } from './group.ts';
import { brandKeys, HOME_KEY, typed } from './schema-parts.ts';

const knownProperties = {
  password: z
    .string()
    .min(1)
    .register(secretFacts, { visibility: 'never', isHashed: true })
    .register(formFacts, { order: 1 }),
  firstName: z.string().optional().register(formFacts, { order: 2 }),
  lastName: z.string().optional().register(formFacts, { order: 3 }),
  email: z.string().optional().describe('Unique among all users').register(formFacts, { order: 4 }),
  phoneNumber: z.string().optional().register(formFacts, { order: 5 }),
  platform_home: z
    .string()
    .optional()
    .describe('Fully qualified name of an existing organization (default: root)')
    .register(formFacts, { label: 'Home', order: 6, kind: 'fqon' }),
};

const properties = z
  .looseObject(knownProperties)
  .describe('Other members than these are refused, except another spelling of platform_home')
  .superRefine((input, context) => {
    const homes = brandKeys(input, HOME_KEY);
    for (const key of homes) {
      if (typeof input[key] !== 'string')
        context.addIssue({ code: 'custom', path: [key], message: 'must be a string' });
    }
    if (homes[1]) context.addIssue({ code: 'custom', path: [homes[1]], message: `means the same as ${homes[0]}` });
    const keys = Object.keys(input).filter((key) => !Object.hasOwn(knownProperties, key) && !homes.includes(key));
    if (keys.length > 0) context.addIssue({ code: 'unrecognized_keys', keys, input: input });
  });

const emailKey = (email: string) => `email ${email}`;

/** D-070, D-072, D-083. */
export const user: ResourceType = {
  name: USER,
  collection: 'users',
  singular: 'user',
  summary: 'A person or a service account; also an account of the security service.',
  parents: ['orgs'],
  properties,
  example: {
    name: 'grace.hopper',
    properties: { password: 'choose-a-password', firstName: 'Grace', email: 'grace@example.com' },
  },
  serverSet: ['groups', 'disabled'],
  hidden: ['disabled'],
  ownProperties: ['password', 'firstName', 'lastName', 'email', 'phoneNumber'],
  nameScope: 'world',
  // D-073.
  listedBelow: { groups: membersOf },
  keys: ({ properties: { email } }) => (typeof email === 'string' && email !== '' ? [emailKey(email)] : []),

  validate({ id, properties: input }, { view, previous }) {
    const { email } = typed(properties, { properties: input });
    if (email && view.referrers(emailKey(email), 'users').some((other) => other.id !== id)) {
      throw new PlatformError('name_taken', `email '${email}' is in use by another user`);
    }
    const [homeKey] = brandKeys(input, HOME_KEY);
    const home = homeKey && input[homeKey];
    // A reference that was valid when it was written stays valid: the organization may have been renamed.
    const isNew = homeKey !== undefined && home !== previous?.properties[homeKey];
    if (isNew && typeof home === 'string' && !findOrganization(view, home)) {
      throw invalid(`/properties/${homeKey}`, `organization '${home}' does not exist`);
    }
    const disabled = previous?.properties.disabled;
    return { properties: { ...input, ...(disabled !== undefined && { disabled }) } };
  },

  release(record, view) {
    if (record.id === view.root.owner) throw new PlatformError('protected_resource', 'the root user cannot be deleted');
  },

  toView(record, { view, link }) {
    return { ...record.properties, groups: groupsOf(record, view).map(link) };
  },
};
