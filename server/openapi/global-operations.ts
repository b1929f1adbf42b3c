import { may } from '../contract/right.ts';
import type { JsonObject } from '../model/json.ts';
import { created, gone, LIST_QUERY, listOf, type Operation, ok, okList, patchBody, ref, rowsOf } from './operation.ts';

const platform = rowsOf('Platform');
const organizations = rowsOf('Organizations');
const users = rowsOf('Users');
const groups = rowsOf('Groups');

const organization = ref('Organization');
const names = ok(listOf({ type: 'string' }), 'Names');
const userRecords = ok(listOf(ref('User')), 'Records');
const groupRecords = ok(listOf(ref('Group')), 'Records');

/** The platform as a whole, organizations by name, lists and searches over all of it (D-005, D-015..D-017, D-188, D-189). */
export const globalOperations: readonly Operation[] = [
  platform('get /meta/health', 'readHealth', 'Does the platform work?', {
    right: 'none',
    success: ok(ref('Health'), 'It does'),
    errors: [503],
    errorSchema: 'Health',
  }),
  platform('get /meta/{fqon}/health', 'readHealthInDetail', 'Does the platform work? In detail', {
    right: 'caller',
    success: ok(ref('Health'), 'It does'),
    errors: [404, 503],
  }),
  platform('get /meta/about', 'readAbout', 'Version, time and services', { right: 'none', success: ok(ref('About')) }),
  platform('post /meta/sync', 'sync', 'Does nothing, for clients that sync; root only', {
    right: 'root',
    success: ok(flag('synced')),
    errors: [403],
  }),
  platform('post /meta/bootstrap', 'bootstrap', 'Does nothing, for clients that bootstrap; root only', {
    right: 'root',
    success: ok(flag('bootstrapped')),
    errors: [403],
  }),

  organizations('get /meta/orgs', 'listAllOrganizations', 'List all organizations, root first', {
    right: 'caller',
    query: LIST_QUERY,
    success: okList('Organization'),
    errors: [400],
  }),
  organizations('post /meta/orgs', 'createTopOrganization', 'Create an organization below root', {
    right: may('org.create', 'root'),
    body: { schema: organization },
    success: created(organization),
    errors: [403, 409],
  }),
  organizations('get /meta/orgs/search', 'searchOrganizations', 'Names of organizations that begin so', {
    right: 'caller',
    query: ['name_start'],
    success: names,
    errors: [400],
  }),
  organizations('get /meta/{fqon}', 'readOrganizationByName', 'Read an organization', {
    right: may('org.view', 'fqon'),
    success: ok(organization),
    errors: [403, 404],
  }),
  organizations('post /meta/{fqon}', 'createSubOrganization', 'Create an organization below this one', {
    right: may('org.create', 'fqon'),
    body: { schema: organization },
    success: created(organization),
    errors: [403, 404, 409],
  }),
  organizations('patch /meta/{fqon}', 'patchOrganizationByName', 'Change an organization by JSON Patch', {
    right: may('org.update', 'fqon'),
    body: patchBody,
    success: ok(organization, 'The record after the change'),
    errors: [403, 404, 409, 422],
  }),
  organizations('delete /meta/{fqon}', 'deleteOrganizationByName', 'Delete an organization', {
    right: may('org.delete', 'fqon'),
    query: ['force'],
    success: gone,
    errors: [400, 403, 404, 409],
  }),
  rowsOf('Workspaces')('get /meta/workspaces/search', 'searchWorkspaces', 'Names of workspaces that begin so', {
    right: 'caller',
    query: ['name_start'],
    success: names,
    errors: [400],
  }),
  rowsOf('Environments')('get /meta/environments/search', 'searchEnvironments', 'Names of environments that begin so', {
    right: 'caller',
    query: ['name_start'],
    success: names,
    errors: [400],
  }),
  rowsOf('Rules')('get /meta/rules', 'listAllRules', 'List all rules', {
    right: 'caller',
    query: [...LIST_QUERY, 'rule_type'],
    success: okList('Rule'),
    errors: [400],
  }),

  users('get /meta/users', 'listAllUsers', 'List all users', {
    right: 'caller',
    query: LIST_QUERY,
    success: okList('User'),
    errors: [400],
  }),
  users('get /meta/users/self', 'readSelf', 'Who am I?', { right: 'caller', success: ok(ref('User')) }),
  users('get /meta/users/search', 'searchUsers', 'Search users by exactly one of the parameters', {
    right: 'caller',
    query: ['by_name', 'by_email', 'by_phone'],
    success: userRecords,
    errors: [400],
  }),
  users('get /meta/{fqon}/users/search', 'searchUsersOf', 'Search the users of an organization and of those above', {
    right: 'caller',
    query: ['by_name', 'by_username', 'by_email', 'by_phone'],
    success: userRecords,
    errors: [400, 404],
  }),
  groups('get /meta/groups/search', 'searchGroups', 'Search groups', {
    right: 'caller',
    query: ['group_name'],
    success: groupRecords,
    errors: [400],
  }),
  groups(
    'get /meta/{fqon}/groups/search',
    'searchGroupsOf',
    'Search the groups of an organization and of those above',
    { right: 'caller', query: ['group_name'], success: groupRecords, errors: [400, 404] },
  ),
];

function flag(name: string): JsonObject {
  return { type: 'object', properties: { [name]: { const: true } }, required: [name] };
}
