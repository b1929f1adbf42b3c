import { z } from 'zod';
import { typeOfWord } from '../../model/registry.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { health } from '../schemas/forms.ts';
import { object } from '../schemas/parts.ts';
import { required, text } from './parameter.ts';
import {
  changedRecord,
  listAnswer,
  listQuery,
  patch,
  readQuery,
  recordOf,
  removal,
  ruleType,
  wholeRecord,
} from './records.ts';
import { createdWithLocation, defineRoutes, noContent, ok, permission, route } from './route.ts';

const recordSchema = (collection: TypeWord) => recordOf(typeOfWord(collection));
const organization = recordSchema('orgs');
const user = recordSchema('users');
const services = z.record(z.string(), z.string());

/** Prefix search for names (D-188). */
const searchesNames = {
  query: { name: required(text('Prefix of the names')) },
  answer: ok(z.array(z.string()), 'Names'),
} as const;
/** Search criteria for users (D-189). */
const userCriteria = {
  name: text('User name; `*` matches any text'),
  email: text('Email address; `*` matches any text'),
  phoneNumber: text('Phone number; `*` matches any text'),
};
const userRecords = ok(z.array(user), 'Records');
const searchesGroups = {
  tag: 'Groups',
  query: { name: required(text('Group name; `*` matches any text')) },
  answer: ok(z.array(recordSchema('groups')), 'Records'),
} as const;

/** Routes about the entire platform (D-015). */
export const platformRoutes = defineRoutes('Platform', {
  readHealth: route('get /meta/health', 'none', {
    summary: 'Check the health of the platform',
    answer: ok(health, 'Healthy'),
    errors: [503],
    errorForm: 'Health',
  }),
  readHealthInDetail: route('get /meta/{fqon}/health', 'caller', {
    summary: 'Check the health of the platform in detail',
    answer: ok(health, 'Healthy'),
    errors: [503],
  }),
  readAbout: route('get /meta/about', 'none', {
    summary: 'Read the version, time and services',
    answer: ok(
      object('About', {
        status: z.string(),
        url: z.url(),
        time: z.iso.datetime().describe('ISO-8601, UTC, with milliseconds'),
        version: z.string(),
        services,
      }),
    ),
  }),
  sync: route('post /meta/sync', 'root', {
    failsAs: 'org.update',
    summary: 'Has no effect; exists for clients that synchronize',
    answer: ok(z.object({ synced: z.literal(true) })),
  }),
  bootstrap: route('post /meta/bootstrap', 'root', {
    failsAs: 'org.update',
    summary: 'Has no effect; exists for clients that bootstrap',
    answer: ok(z.object({ bootstrapped: z.literal(true) })),
  }),
});

export const documentRoutes = defineRoutes('Platform', {
  readOpenApi: route('get /openapi.json', 'none', {
    summary: "Read this document: the platform's API",
    answer: ok(z.looseObject({})),
  }),
  readGatewayOpenApi: route('get /openapi.gateway.json', 'none', {
    summary: 'Read the document of the gateway, for clients that know one address',
    answer: ok(z.looseObject({})),
  }),
  readInspectOpenApi: route('get /openapi.inspect.json', 'none', {
    summary: "Read the document of the emulator's own API",
    answer: ok(z.looseObject({})),
  }),
});

const createsOrganization = {
  body: wholeRecord(typeOfWord('orgs')),
  answer: createdWithLocation(organization),
  errors: [409],
} as const;

/** Organizations by name (D-005). */
export const organizationRoutes = defineRoutes('Organizations', {
  listAllOrganizations: route('get /meta/orgs', 'caller', {
    summary: 'List all organizations, the root organization first',
    query: listQuery,
    answer: listAnswer(organization),
  }),
  createTopOrganization: route('post /meta/orgs', permission('org.create', 'root'), {
    summary: 'Create an organization below the root organization',
    ...createsOrganization,
  }),
  searchOrganizations: route('get /meta/orgs/search', 'caller', {
    ...searchesNames,
    summary: 'List the names of organizations with a prefix',
  }),
  readOrganizationByName: route('get /meta/{fqon}', permission('org.view', 'fqon'), {
    summary: 'Read an organization',
    query: readQuery,
    answer: ok(organization),
  }),
  createSubOrganization: route('post /meta/{fqon}', permission('org.create', 'fqon'), {
    summary: 'Create a sub-organization',
    ...createsOrganization,
  }),
  patchOrganizationByName: route('patch /meta/{fqon}', permission('org.update', 'fqon'), {
    summary: 'Update an organization with a JSON Patch',
    body: patch,
    answer: changedRecord(organization),
    errors: [409, 422],
  }),
  deleteOrganizationByName: route('delete /meta/{fqon}', permission('org.delete', 'fqon'), {
    summary: 'Delete an organization',
    query: { force: removal.force },
    answer: noContent,
    errors: [409],
  }),
});

/** Lists and searches over the entire platform (D-016, D-017, D-188, D-189). */
export const globalRoutes = defineRoutes('Users', {
  searchWorkspaces: route('get /meta/workspaces/search', 'caller', {
    ...searchesNames,
    tag: 'Workspaces',
    summary: 'List the names of workspaces with a prefix',
  }),
  searchEnvironments: route('get /meta/environments/search', 'caller', {
    ...searchesNames,
    tag: 'Environments',
    summary: 'List the names of environments with a prefix',
  }),
  listAllRules: route('get /meta/rules', 'caller', {
    tag: 'Rules',
    summary: 'List all rules',
    query: { ...listQuery, type: ruleType },
    answer: listAnswer(recordSchema('rules')),
  }),
  listAllUsers: route('get /meta/users', 'caller', {
    summary: 'List all users',
    query: listQuery,
    answer: listAnswer(user),
  }),
  readSelf: route('get /meta/users/self', 'caller', {
    summary: 'Read the user of the caller',
    query: readQuery,
    answer: ok(user),
  }),
  searchUsers: route('get /meta/users/search', 'caller', {
    summary: 'Search users by exactly one parameter',
    query: userCriteria,
    answer: userRecords,
  }),
  searchUsersOf: route('get /meta/{fqon}/users/search', 'caller', {
    summary: 'Search users of an organization and of the organizations above',
    query: { ...userCriteria, username: text('Same as `name`') },
    answer: userRecords,
  }),
  searchGroups: route('get /meta/groups/search', 'caller', {
    ...searchesGroups,
    summary: 'Search groups',
  }),
  searchGroupsOf: route('get /meta/{fqon}/groups/search', 'caller', {
    ...searchesGroups,
    summary: 'Search groups of an organization and of the organizations above',
  }),
});
