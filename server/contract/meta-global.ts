import { z } from 'zod';
import { typeOfWord } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import { health, link } from './forms.ts';
import { named } from './named.ts';
import { required, text } from './parameter.ts';
import { id } from './parts.ts';
import {
  changedRecord,
  embed,
  listAnswer,
  listQuery,
  newRecord,
  patch,
  recordOf,
  removal,
  ruleType,
  whole,
} from './records.ts';
import { may } from './right.ts';
import { gone, ok, rowsOf } from './row.ts';

const of = (word: TypeWord) => recordOf(typeOfWord(word));
const organization = of('orgs');
const user = of('users');
const services = z.record(z.string(), z.string());

/** What names begin with (D-188). */
const nameStart = { name: required(text('What the names begin with')) };
/** What users are searched by (D-189). */
const userCriteria = {
  name: text('A name; `*` stands for any text'),
  email: text('An address; `*` stands for any text'),
  phoneNumber: text('A number; `*` stands for any text'),
};
const groupName = { name: required(text('A name; `*` stands for any text')) };
const names = ok(z.array(z.string()), 'Names');
const userRecords = ok(z.array(user), 'Records');
const groupRecords = ok(z.array(of('groups')), 'Records');

/** The platform as a whole (D-015). */
export const platformRows = rowsOf('Platform', {
  readHealth: {
    route: 'get /meta/health',
    summary: 'Does the platform work?',
    right: 'none',
    answer: ok(health, 'It does'),
    errors: [503],
    errorForm: 'Health',
  },
  readHealthInDetail: {
    route: 'get /meta/{fqon}/health',
    summary: 'Does the platform work? In detail',
    right: 'caller',
    answer: ok(health, 'It does'),
    errors: [503],
  },
  readAbout: {
    route: 'get /meta/about',
    summary: 'Version, time and services',
    right: 'none',
    answer: ok(
      named(
        'About',
        z.object({
          status: z.string(),
          url: z.url(),
          time: z.iso.datetime().describe('ISO-8601, UTC, with milliseconds'),
          version: z.string(),
          services,
        }),
      ),
    ),
  },
  sync: {
    route: 'post /meta/sync',
    failsAs: 'org.update',
    summary: 'Does nothing, for clients that sync; root only',
    right: 'root',
    answer: ok(z.object({ synced: z.literal(true) })),
  },
  bootstrap: {
    route: 'post /meta/bootstrap',
    failsAs: 'org.update',
    summary: 'Does nothing, for clients that bootstrap; root only',
    right: 'root',
    answer: ok(z.object({ bootstrapped: z.literal(true) })),
  },
});

/** What tells of all this. */
export const documentRows = rowsOf('Platform', {
  readOpenApi: {
    route: 'get /openapi.json',
    summary: 'This document',
    right: 'none',
    answer: ok(z.looseObject({})),
  },
});

/** Organizations by name (D-005). */
export const organizationRows = rowsOf('Organizations', {
  listAllOrganizations: {
    route: 'get /meta/orgs',
    summary: 'List all organizations, root first',
    right: 'caller',
    query: listQuery,
    answer: listAnswer(organization),
  },
  createTopOrganization: {
    route: 'post /meta/orgs',
    summary: 'Create an organization below root',
    right: may('org.create', 'root'),
    body: whole(organization),
    answer: newRecord(organization),
    errors: [409],
  },
  searchOrganizations: {
    route: 'get /meta/orgs/search',
    summary: 'Names of organizations that begin so',
    right: 'caller',
    query: nameStart,
    answer: names,
  },
  readOrganizationByName: {
    route: 'get /meta/{fqon}',
    summary: 'Read an organization',
    right: may('org.view', 'fqon'),
    query: { embed },
    answer: ok(organization),
  },
  createSubOrganization: {
    route: 'post /meta/{fqon}',
    summary: 'Create an organization below this one',
    right: may('org.create', 'fqon'),
    body: whole(organization),
    answer: newRecord(organization),
    errors: [409],
  },
  patchOrganizationByName: {
    route: 'patch /meta/{fqon}',
    summary: 'Change an organization by JSON Patch',
    right: may('org.update', 'fqon'),
    body: patch,
    answer: changedRecord(organization),
    errors: [409, 422],
  },
  deleteOrganizationByName: {
    route: 'delete /meta/{fqon}',
    summary: 'Delete an organization',
    right: may('org.delete', 'fqon'),
    query: { force: removal.force },
    answer: gone,
    errors: [409],
  },
});

const workspaceRows = rowsOf('Workspaces', {
  searchWorkspaces: {
    route: 'get /meta/workspaces/search',
    summary: 'Names of workspaces that begin so',
    right: 'caller',
    query: nameStart,
    answer: names,
  },
});

const environmentRows = rowsOf('Environments', {
  searchEnvironments: {
    route: 'get /meta/environments/search',
    summary: 'Names of environments that begin so',
    right: 'caller',
    query: nameStart,
    answer: names,
  },
});

const ruleRows = rowsOf('Rules', {
  listAllRules: {
    route: 'get /meta/rules',
    summary: 'List all rules',
    right: 'caller',
    query: { ...listQuery, type: ruleType },
    answer: listAnswer(of('rules')),
  },
});

const userRows = rowsOf('Users', {
  listAllUsers: {
    route: 'get /meta/users',
    summary: 'List all users',
    right: 'caller',
    query: listQuery,
    answer: listAnswer(user),
  },
  readSelf: { route: 'get /meta/users/self', summary: 'Who am I?', right: 'caller', answer: ok(user) },
  searchUsers: {
    route: 'get /meta/users/search',
    summary: 'Search users by exactly one of the parameters',
    right: 'caller',
    query: userCriteria,
    answer: userRecords,
  },
  searchUsersOf: {
    route: 'get /meta/{fqon}/users/search',
    summary: 'Search the users of an organization and of those above',
    right: 'caller',
    query: { ...userCriteria, username: text('The same as `name`') },
    answer: userRecords,
  },
});

const groupRows = rowsOf('Groups', {
  searchGroups: {
    route: 'get /meta/groups/search',
    summary: 'Search groups',
    right: 'caller',
    query: groupName,
    answer: groupRecords,
  },
  searchGroupsOf: {
    route: 'get /meta/{fqon}/groups/search',
    summary: 'Search the groups of an organization and of those above',
    right: 'caller',
    query: groupName,
    answer: groupRecords,
  },
});

/** Lists and searches over all of the platform (D-016, D-017, D-188, D-189). */
export const globalTables = [workspaceRows, environmentRows, ruleRows, userRows, groupRows];
/** All of them. */
export const globalRows = { ...workspaceRows, ...environmentRows, ...ruleRows, ...userRows, ...groupRows };

/** A reference to what a route of one type answers. */
export const initialized = named(
  'Initialized',
  z.object({ status: z.literal('initialized'), providers: z.array(link) }),
);
/** Where something stands (D-015). */
export const context = named(
  'Context',
  z.object({
    organization: link,
    workspace: link.optional(),
    environment: link.optional(),
    resource: link.optional(),
  }),
);
/** D-112. */
export const env = named('Env', z.record(z.string(), z.string()).describe('Environment variables by name'));
/** D-006, D-084. */
export const referenceEntry = named('ReferenceEntry', z.looseObject({ id, name: z.string() }));
