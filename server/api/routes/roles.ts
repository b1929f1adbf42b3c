import { z } from 'zod';
import { ROLES } from '../../model/rules/roles.ts';
import { EXAMPLE_ID } from '../../model/types/schema-parts.ts';
import { count, id, object, strictObject } from '../schemas/parts.ts';
import { uuid } from './parameter.ts';
import { defineRoutes, json, ok, permission, route } from './route.ts';

const TARGET = {
  id: 'resource_id',
  types: ['orgs', 'workspaces', 'environments', 'lambdas', 'containers', 'apis'],
} as const;

const holder = z.object({
  id,
  name: z.string(),
  kind: z.enum(['user', 'group']),
  role: z.enum(ROLES).optional().describe('The highest role whose permissions are all granted; absent below viewer'),
  rights: count.describe('Number of permitted actions'),
  isOwn: z.boolean().describe('Whether any permission is granted on this resource; otherwise all are inherited'),
  groups: z.array(z.string()).describe('Names of the groups that grant a user some of these permissions'),
});
const roles = object('Roles', {
  holders: z.array(holder),
  actions: count.describe('Number of all actions of this resource'),
});
export type RoleHolder = z.output<typeof holder>;

/** Routes for the caller's own permissions, and for roles: permissions granted together. */
export const roleRoutes = defineRoutes('Window', {
  readPermissions: route('get /inspect/permissions', 'caller', {
    summary: 'List your own permissions',
    description: 'On a resource, or on at least one resource of the platform. The window disables what you cannot do.',
    query: { on: uuid('Only permissions on this resource (default: on any resource)') },
    answer: ok(
      z.object({
        actions: z.array(z.string()),
        seesAll: z.boolean().describe('Whether you can view the entire platform'),
      }),
    ),
    isPrivate: true,
  }),
  readRoles: route('get /inspect/roles/{resource_id}', permission('entitlement.view', 'resource_id'), {
    summary: 'List the roles on a resource',
    description: 'Computed from the entitlements of the resource. Lists users and groups you can view.',
    target: TARGET,
    answer: ok(roles),
  }),
  setRoles: route('put /inspect/roles/{resource_id}', permission('entitlement.update', 'resource_id'), {
    summary: 'Assign or remove a role of users and groups',
    description:
      'Changes the entitlements of the resource, and so everything below it, in one commit. A role replaces permissions granted on ' +
      'this resource; inherited permissions stay. `sameAs` copies the permissions of another user or group.',
    target: TARGET,
    body: json(
      strictObject('RolesRequest', {
        identities: z.array(id).min(1).max(100).describe('Users and groups'),
        role: z.enum([...ROLES, 'none']).optional(),
        sameAs: id.optional(),
      }),
      { identities: [EXAMPLE_ID], role: ROLES[0] },
    ),
    answer: ok(roles),
  }),
});
