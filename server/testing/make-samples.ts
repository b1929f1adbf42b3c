import type { JsonObject } from '../model/json.ts';
import { typeOfWord } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { ApiClient } from './platform.ts';
import { type Body, lambdaBody, type Tenant } from './tenant.ts';

/** Path and body, without a name, to create one resource of each type. */
export type Samples = Record<TypeWord, { at: string; properties: Body; resource_type?: string }>;

/** Creates the prerequisites of each type, and returns how to create one. `selfId` is the id of the acting user. */
export async function makeSamples(root: ApiClient, tenant: Tenant, selfId: string): Promise<Samples> {
  const { org, workspace, environment } = tenant;
  const lambda = await root.create(`${environment}/lambdas`, lambdaBody(tenant, 'target'));
  const policy = await root.create(`${org}/policies`, { name: 'policy' });
  const api = await root.create(`${environment}/apis`, { name: 'site' });
  const docker = { provider: { id: tenant.docker } };
  return {
    orgs: { at: org, ...exampleOf('orgs') },
    workspaces: { at: `${org}/workspaces`, ...exampleOf('workspaces') },
    environments: { at: `${workspace}/environments`, ...exampleOf('environments') },
    containers: { at: `${environment}/containers`, ...exampleOf('containers', docker) },
    jobs: { at: `${environment}/jobs`, ...exampleOf('jobs', docker) },
    lambdas: { at: `${environment}/lambdas`, ...exampleOf('lambdas', { provider: { id: tenant.lambdas } }) },
    apis: { at: `${environment}/apis`, ...exampleOf('apis') },
    apiendpoints: {
      at: `${org}/apis/${api.id}/apiendpoints`,
      ...exampleOf('apiendpoints', { implementation_id: lambda.id }),
    },
    providers: {
      at: `${org}/providers`,
      ...exampleOf('providers', { linked_providers: [{ id: tenant.docker }] }),
    },
    // Each user has an email address of their own.
    users: { at: `${org}/users`, ...exampleOf('users', { email: '' }) },
    groups: { at: `${org}/groups`, ...exampleOf('groups', { users: [selfId] }) },
    policies: { at: `${org}/policies`, ...exampleOf('policies') },
    rules: { at: `${org}/policies/${policy.id}/rules`, ...exampleOf('rules', { lambda: lambda.id }) },
    secrets: { at: `${environment}/secrets`, ...exampleOf('secrets', docker) },
    volumes: { at: `${environment}/volumes`, ...exampleOf('volumes', docker) },
  };
}

/** The example of a type without its name. @param existing properties that refer to resources that exist */
function exampleOf(collection: TypeWord, existing: JsonObject = {}) {
  const { name: _, properties, ...body } = typeOfWord(collection).example;
  return { ...body, properties: { ...properties, ...existing } };
}

/**
 * Creates and reads records of the organization acme.
 *
 * @param fixture client and factory, called at each use, because the platform starts after the tests are collected
 */
export function recordsOf(fixture: () => { root: ApiClient; samples: Samples }) {
  let createdCount = 0;
  const bodyOf = (collection: TypeWord) => {
    const { at: _, properties, ...body } = fixture().samples[collection];
    const path = collection === 'apiendpoints' && { resource: `/${++createdCount}` };
    return { name: `thing-${++createdCount}`, ...body, properties: { ...properties, ...path } };
  };
  const make = (collection: TypeWord, more: object = {}): Promise<Body> =>
    fixture().root.create(fixture().samples[collection].at, { ...bodyOf(collection), ...more });
  const pathOf = (collection: TypeWord, { id }: Body) => `/acme/${collection}/${id}`;
  const read = async (collection: TypeWord, record: Body) =>
    (await fixture().root.get(pathOf(collection, record))).body;
  return { bodyOf, make, pathOf, read };
}
