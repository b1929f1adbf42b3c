import type { TypeWord } from '../model/type-words.ts';
import type { ApiClient } from './platform.ts';
import { type Body, containerBody, lambdaBody, type Tenant } from './tenant.ts';

/** How to create one resource of a type: the path, and a body without a name. */
export type Samples = Record<TypeWord, { at: string; properties: Body; resource_type?: string }>;

/** Creates the prerequisites of each type, and returns how to create one. `selfId` is the id of the acting user. */
export async function makeSamples(root: ApiClient, tenant: Tenant, selfId: string): Promise<Samples> {
  const { org, workspace, environment } = tenant;
  const lambda = await root.create(`${environment}/lambdas`, lambdaBody(tenant, 'target'));
  const policy = await root.create(`${org}/policies`, { name: 'policy' });
  const api = await root.create(`${environment}/apis`, { name: 'site' });
  const { properties: container } = containerBody(tenant, '');
  return {
    orgs: { at: org, properties: { env: { A: '1' } } },
    workspaces: { at: `${org}/workspaces`, properties: { env: { A: '1' } } },
    environments: { at: `${workspace}/environments`, properties: { environment_type: 'test' } },
    containers: { at: `${environment}/containers`, properties: container },
    jobs: { at: `${environment}/jobs`, properties: container },
    lambdas: { at: `${environment}/lambdas`, properties: lambdaBody(tenant, 'x').properties },
    apis: { at: `${environment}/apis`, properties: {} },
    apiendpoints: {
      at: `${org}/apis/${api.id}/apiendpoints`,
      properties: { resource: '/x', implementation_type: 'lambda', implementation_id: lambda.id, synchronous: true },
    },
    providers: {
      at: `${org}/providers`,
      resource_type: 'Platform::Configuration::Provider::Logging',
      properties: { environment_types: ['test'], linked_providers: [{ id: tenant.docker }], level: 'debug' },
    },
    users: { at: `${org}/users`, properties: { password: 'x', firstName: 'Ada', email: '' } },
    groups: { at: `${org}/groups`, properties: { users: [selfId] } },
    policies: { at: `${org}/policies`, properties: {} },
    rules: {
      at: `${org}/policies/${policy.id}/rules`,
      resource_type: 'Platform::Resource::Rule::Event',
      properties: { match_actions: [{ action: 'secret.create.post' }], lambda: lambda.id },
    },
    secrets: {
      at: `${environment}/secrets`,
      properties: { provider: { id: tenant.docker }, items: [{ key: 'a', value: 'b' }] },
    },
    volumes: { at: `${environment}/volumes`, properties: { provider: { id: tenant.docker }, type: 'persistent' } },
  };
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
