import { z } from 'zod';
import { ROLES } from '../model/roles.ts';
import { named } from './named.ts';
import { count, id } from './parts.ts';
import { may } from './right.ts';
import { json, ok, rowsOf } from './row.ts';

const PLACES = {
  id: 'resource_id',
  of: ['orgs', 'workspaces', 'environments', 'lambdas', 'containers', 'apis'],
} as const;

const holder = z.object({
  id,
  name: z.string(),
  kind: z.enum(['user', 'group']),
  role: z.enum(ROLES).optional().describe('The largest whose rights they all have; absent for less than a viewer'),
  rights: count.describe('How many of the actions they may do here'),
  isOwn: z.boolean().describe('Does any of it come from this very resource? Else all is inherited'),
});
const roles = named(
  'Roles',
  z.object({ holders: z.array(holder), actions: count.describe('How many there are here') }),
);
export type RoleHolder = z.output<typeof holder>;

/** Rights given together. */
export const roleRows = rowsOf('Window', {
  readRoles: {
    route: 'get /inspect/roles/{resource_id}',
    summary: 'Who has which role at a resource',
    description: 'Made of its entitlements; users and groups that one may view.',
    right: may('entitlement.view', 'resource_id'),
    target: PLACES,
    answer: ok(roles),
  },
  setRoles: {
    route: 'put /inspect/roles/{resource_id}',
    summary: 'Give users and groups a role there, or take it',
    description:
      'Changes the entitlements of the resource, and so what holds below it, in one commit. A role takes what was given there before; ' +
      'what is inherited stays. `sameAs` gives what another user or group has there.',
    right: may('entitlement.update', 'resource_id'),
    target: PLACES,
    body: json(
      named(
        'RolesRequest',
        z.strictObject({
          identities: z.array(id).min(1).max(100).describe('Users and groups'),
          role: z.enum([...ROLES, 'none']).optional(),
          sameAs: id.optional(),
        }),
      ),
    ),
    answer: ok(roles),
    errors: [404],
  },
});
