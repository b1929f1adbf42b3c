import { resourceTypes, typeOfWord } from '../server/model/registry.ts';
import { isTypeWord, type TypeWord } from '../server/model/type-words.ts';
import type { ApiClient, Platform } from '../server/testing/platform.ts';
import { containerBody, createTenant, lambdaBody, type Tenant } from '../server/testing/tenant.ts';

/** A world with a resource for each parameter of each path of the API, all created by one user. */
export interface MatrixWorld {
  fqon: string;
  tenant: Tenant;
  /** The id of one resource of a type in the environment; for child resources in a path, a child of the other one. */
  idOf(collection: TypeWord, below?: TypeWord): string;
  /** The type name of a resource by its id. */
  collectionOf(id: string): TypeWord;
  /** Another environment, to promote to. */
  target: string;
  rootId: string;
}

/** Lists of resources that refer to a resource instead of being its children (D-055, D-062, D-072, D-073). */
const NAMING: readonly (readonly [TypeWord, TypeWord])[] = [
  ['providers', 'containers'],
  ['lambdas', 'apiendpoints'],
  ['users', 'groups'],
  ['groups', 'users'],
];

/** Creates the world; `owner` must be allowed to create organizations below root. */
export async function makeMatrixWorld({ root }: Platform, owner: ApiClient): Promise<MatrixWorld> {
  await root.post('/root/providers/initialize');
  const providers: { id: string; name: string }[] = (await root.get('/root/providers')).body;
  const provider = (name: string) => providers.find((record) => record.name === name)?.id ?? '';
  const tenant = {
    ...(await createTenant(owner, 'acme')),
    docker: provider('default-docker'),
    lambdas: provider('default-lambda'),
  };
  const { id: target } = await owner.create(`${tenant.workspace}/environments`, {
    name: 'target',
    properties: { environment_type: 'development' },
  });

  const first = new Map<TypeWord, string>([
    ['orgs', tenant.organizationId],
    ['workspaces', tenant.workspaceId],
    ['environments', tenant.environmentId],
  ]);
  const below = new Map<string, string>();
  const collectionById = new Map<string, TypeWord>([...first].map(([collection, id]) => [id, collection]));
  const get = (collection: TypeWord) => first.get(collection) ?? '';
  const add = async (collection: TypeWord, parent: TypeWord, body: object) => {
    const record = await owner.create(`/acme/${parent}/${get(parent)}/${collection}`, body);
    below.set(`${parent}/${collection}`, record.id);
    collectionById.set(record.id, collection);
    if (!first.has(collection)) first.set(collection, record.id);
    return record;
  };

  const bodies: Record<TypeWord, () => object> = {
    orgs: () => ({ name: 'dev' }),
    workspaces: () => ({ name: 'other' }),
    environments: () => ({ name: 'other', properties: { environment_type: 'development' } }),
    providers: () => ({
      name: 'engine',
      resource_type: 'Platform::Configuration::Provider::CaaS::Docker',
      properties: {},
    }),
    users: () => ({ name: 'victim', properties: { password: 'secret' } }),
    groups: () => ({ name: 'team', properties: { users: [get('users')] } }),
    policies: () => ({ name: 'policy' }),
    rules: () => ({
      name: 'rule',
      resource_type: 'Platform::Resource::Rule::Event',
      properties: { match_actions: [{ action: 'lambda.create.post' }], lambda: get('lambdas') },
    }),
    secrets: () => ({
      name: 'secret',
      properties: { provider: { id: get('providers') }, items: [{ key: 'k', value: 'v' }] },
    }),
    volumes: () => ({ name: 'volume', properties: { provider: { id: get('providers') }, type: 'empty_dir' } }),
    lambdas: () => lambdaBody(tenant, 'answers', { public: false }),
    containers: () =>
      containerBody({ ...tenant, docker: get('providers') }, 'box', {
        port_mappings: [{ name: 'web', container_port: 80, protocol: 'tcp', expose_endpoint: true, type: 'internal' }],
      }),
    jobs: () => containerBody({ ...tenant, docker: get('providers') }, 'job'),
    apis: () => ({ name: 'shop' }),
    apiendpoints: () => ({
      name: 'e',
      properties: {
        resource: '/e',
        implementation_type: 'lambda',
        implementation_id: get('lambdas'),
        plugins: { platformSecurity: { enabled: true } },
      },
    }),
  };
  // Created after the resources that they refer to.
  const order: TypeWord[] = ['orgs', 'workspaces', 'environments', 'providers', 'users', 'groups', 'lambdas'];
  const rest = resourceTypes
    .map(({ collection }) => collection)
    .filter((collection) => !order.includes(collection) && collection !== 'apiendpoints');
  for (const collection of [...order, ...rest.sort((a) => (a === 'rules' ? 1 : -1)), 'apiendpoints'] as const) {
    for (const parent of typeOfWord(collection).parents) await add(collection, parent, bodies[collection]());
  }
  for (const [parent, collection] of NAMING) below.set(`${parent}/${collection}`, get(collection));
  const onContainer = { resource: '/c', implementation_type: 'container', implementation_id: get('containers') };
  const { id } = await add('apiendpoints', 'apis', {
    name: 'c',
    properties: { ...onContainer, container_port_name: 'web' },
  });
  below.set('containers/apiendpoints', id);
  below.set('apis/apiendpoints', get('apiendpoints'));

  const requireId = (id: string | undefined, description: string) => {
    if (id === undefined) throw new Error(`the matrix has no ${description}: give it one in matrix-world.ts`);
    return id;
  };
  return {
    fqon: 'acme',
    tenant,
    target,
    rootId: (await root.get('/root')).body.id,
    idOf: (collection, parent) =>
      parent
        ? requireId(below.get(`${parent}/${collection}`), `${collection} below ${parent}`)
        : requireId(first.get(collection), collection),
    collectionOf(id) {
      const collection = collectionById.get(id);
      if (collection !== undefined && isTypeWord(collection)) return collection;
      return 'orgs';
    },
  };
}
