import type { Reply } from './client.ts';
import type { Platform, Voice } from './platform.ts';

/** A record as a client reads it. */
export type Body = Reply['body'];

/** An organization of its own with a workspace and an environment, and the ids of root's default providers. */
export interface Place {
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

/** Makes a place that no other test knows. */
export async function makePlace(root: Voice, name: string, environmentType = 'development'): Promise<Place> {
  const organization = await root.create('/root', { name });
  const workspace = await root.create(`/${name}/workspaces`, { name: 'ws' });
  const environment = await root.create(`/${name}/workspaces/${workspace.id}/environments`, {
    name: 'env',
    properties: { environment_type: environmentType },
  });
  await root.post('/root/providers/initialize');
  const providers: Body[] = (await root.get('/root/providers')).body;
  const idOf = (provider: string) => providers.find((one) => one.name === provider)?.id;
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

/** The same place with a further environment of its workspace in place of the first. */
export async function otherEnvironment(
  root: Voice,
  place: Place,
  environmentType: string,
  name = environmentType,
): Promise<Place> {
  const body = { name, properties: { environment_type: environmentType } };
  const { id } = await root.create(`${place.workspace}/environments`, body);
  return { ...place, environment: `${place.org}/environments/${id}`, environmentId: id };
}

/** The least that makes a container, and more where it is said. */
export function containerBody(place: Place, name: string, properties: object = {}) {
  return {
    name,
    properties: { container_type: 'DOCKER', image: 'nginx:1', provider: { id: place.docker }, ...properties },
  };
}

/** A lambda of inline code that answers with its name. */
export function lambdaBody(place: Place, name: string, properties: object = {}) {
  return {
    name,
    properties: {
      provider: { id: place.lambdas },
      runtime: 'nodejs',
      code_type: 'inline',
      code: `exports.run = (event, context, callback) => callback(null, ${JSON.stringify(name)});`,
      handler: 'run',
      ...properties,
    },
  };
}

/** A user of the root organization who may do nothing yet, with a voice of their own. */
export async function makeUser(platform: Platform, name: string): Promise<{ id: string; voice: Voice }> {
  const user = await platform.root.create('/root/users', { name, properties: { password: `${name}-secret` } });
  return { id: user.id, voice: await platform.as(name, `${name}-secret`) };
}

/** The record of the entitlement of a node for an action. */
export async function entitlementOf(root: Voice, node: string, action: string): Promise<Body> {
  const { body } = await root.get(`${node}/entitlements?action=${action}&expand=true`);
  return body[0];
}

/** Adds identities to an entitlement of a node, as an administrator does. */
export async function grant(root: Voice, node: string, action: string, ...ids: string[]): Promise<void> {
  const { id } = await entitlementOf(root, node, action);
  const { status, body } = await root.patch(
    `/root/entitlements/${id}`,
    ids.map((value) => ({ op: 'add', path: '/properties/identities/-', value })),
  );
  if (status !== 200) throw new Error(`grant ${action}: ${status} ${JSON.stringify(body)}`);
}
