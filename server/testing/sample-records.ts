import type { JsonObject } from '../model/json.ts';
import { typeOfWord } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import type { ApiClient } from './platform.ts';
import { type Body, lambdaBody, type Tenant } from './tenant.ts';

/** How to create one resource of a type: the path, and a body without a name. */
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
function exampleOf(word: TypeWord, existing: JsonObject = {}) {
  const { name: _, properties, ...body } = typeOfWord(word).example;
  return { ...body, properties: { ...properties, ...existing } };
}

/**
 * Creates and reads records of the organization acme.
 *
 * @param scene client and factory, called at each use, because the platform starts after the tests are collected
 */
export function recordsOf(scene: () => { root: ApiClient; samples: Samples }) {
  let made = 0;
  const bodyOf = (word: TypeWord) => {
    const { at: _, properties, ...body } = scene().samples[word];
    const path = word === 'apiendpoints' && { resource: `/${++made}` };
    return { name: `thing-${++made}`, ...body, properties: { ...properties, ...path } };
  };
  const make = (word: TypeWord, more: object = {}): Promise<Body> =>
    scene().root.create(scene().samples[word].at, { ...bodyOf(word), ...more });
  const pathOf = (word: TypeWord, { id }: Body) => `/acme/${word}/${id}`;
  const read = async (word: TypeWord, record: Body) => (await scene().root.get(pathOf(word, record))).body;
  return { bodyOf, make, pathOf, read };
}
