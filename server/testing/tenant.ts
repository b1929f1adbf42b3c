import type { Reply } from './client.ts';
import type { ApiClient, Platform } from './platform.ts';

/** A record as a client reads it. */
export type Body = Reply['body'];

/** A separate organization with a workspace and an environment, and the ids of root's default providers. */
export interface Tenant {
  /** `/{fqon}` */
  org: string;
  /** Path of the workspace. */
  workspace: string;
  /** Path of the environment. */
  environment: string;
  organizationId: string;
  workspaceId: string;
  environmentId: string;
  docker: string;
  lambdas: string;
  gateways: string;
}

/** Creates a place that no other test uses. */
export async function createTenant(root: ApiClient, name: string, environmentType = 'development'): Promise<Tenant> {
  const organization = await root.create('/root', { name });
  const workspace = await root.create(`/${name}/workspaces`, { name: 'ws' });
  const environment = await root.create(`/${name}/workspaces/${workspace.id}/environments`, {
    name: 'env',
    properties: { environment_type: environmentType },
  });
  await root.post('/root/providers/initialize');
  const providers: Body[] = (await root.get('/root/providers')).body;
  const idOf = (provider: string) => providers.find((candidate) => candidate.name === provider)?.id;
  return {
    org: `/${name}`,
    workspace: `/${name}/workspaces/${workspace.id}`,
    environment: `/${name}/environments/${environment.id}`,
    organizationId: organization.id,
    workspaceId: workspace.id,
    environmentId: environment.id,
    docker: idOf('default-docker'),
    lambdas: idOf('default-lambda'),
    gateways: idOf('default-gateway-manager'),
  };
}

/** Returns the tenant with another environment of its workspace. */
export async function withEnvironment(
  root: ApiClient,
  tenant: Tenant,
  environmentType: string,
  name = environmentType,
): Promise<Tenant> {
  const body = { name, properties: { environment_type: environmentType } };
  const { id } = await root.create(`${tenant.workspace}/environments`, body);
  return { ...tenant, environment: `${tenant.org}/environments/${id}`, environmentId: id };
}

/** The minimal properties of a container, with additions. */
export function containerBody(tenant: Tenant, name: string, properties: object = {}) {
  return {
    name,
    properties: { container_type: 'DOCKER', image: 'nginx:1', provider: { id: tenant.docker }, ...properties },
  };
}

/** A lambda with inline code that returns its name. */
export function lambdaBody(tenant: Tenant, name: string, properties: object = {}) {
  return {
    name,
    properties: {
      provider: { id: tenant.lambdas },
      runtime: 'nodejs',
      code_type: 'inline',
      code: `exports.run = (event, context, callback) => callback(null, ${JSON.stringify(name)});`,
      handler: 'run',
      ...properties,
    },
  };
}

/** A user of the root organization without permissions, with a client. */
export async function makeUser(platform: Platform, name: string): Promise<{ id: string; client: ApiClient }> {
  const user = await platform.root.create('/root/users', { name, properties: { password: `${name}-secret` } });
  return { id: user.id, client: await platform.as(name, `${name}-secret`) };
}

/** The entitlement record of a node for an action. */
export async function entitlementOf(root: ApiClient, node: string, action: string): Promise<Body> {
  const { body } = await root.get(`${node}/entitlements?action=${action}&expand=true`);
  return body[0];
}

/** Adds identities to an entitlement of a node, as an administrator does. */
export async function grant(root: ApiClient, node: string, action: string, ...ids: string[]): Promise<void> {
  const { id } = await entitlementOf(root, node, action);
  const { status, body } = await root.patch(
    `/root/entitlements/${id}`,
    ids.map((value) => ({ op: 'add', path: '/properties/identities/-', value })),
  );
  if (status !== 200) throw new Error(`grant ${action}: ${status} ${JSON.stringify(body)}`);
}
