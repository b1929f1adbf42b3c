import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { jsonBody } from '../api/client/route-client.ts';
import { seedRoutes } from '../api/routes/seeds.ts';
import { treeRoutes } from '../api/routes/tree.ts';
import { reasonOf } from '../model/errors.ts';
import { lastNameOf, pathsIn } from '../model/resource-path.ts';
import type { DeployedLambda, LambdaSource } from './api.ts';
import { check, failure, lambdaSource } from './arguments.ts';
import { type Client, findLambda } from './client.ts';
import { findMainFile, readManifest, seedOfEnvironment } from './lambda-project.ts';

/** Environment for a lambda that is named without a path, in a world without environments. */
const DEFAULT_ENVIRONMENT_PATH = '/local/test';
const endpoints = z.array(
  z.looseObject({ properties: z.looseObject({ resource: z.string(), public_url: z.string() }) }),
);
/** Name of the API that is created in an environment without one. */
const DEFAULT_API = { provider: { id: 'default-gateway-manager', locations: ['default-gateway'] } };

/** Creates or updates a lambda and its endpoint by a seed, which creates missing parents and is one commit. Throws TerrariumError. */
export async function deploy(client: Client, named: string, source: LambdaSource): Promise<DeployedLambda> {
  check('deploy', lambdaSource, source);
  if ('code' in source === 'folder' in source)
    throw failure('REFUSED', "deploy: set either 'code' or 'folder' (a folder or a file)");
  if (named.includes('/') && !named.startsWith('/'))
    throw failure('REFUSED', `deploy: '${named}' is neither a name nor a path. For a path, give '/${named}'.`);
  const environments = pathsIn(
    await client.ask(treeRoutes.searchTree, { query: { word: 'environments', limit: '1000' } }),
  );
  const path = named.startsWith('/') ? named : `${onlyEnvironmentPath(environments, named)}/${named}`;
  const parentNames = path.split('/').slice(1, -1);
  const name = lastNameOf(path);
  if (parentNames.length < 2 || [...parentNames, name].includes('')) {
    throw failure(
      'NOT_FOUND',
      `'${named}' is not a path of a lambda. Give /WORKSPACE/ENVIRONMENT/NAME, or the same with organizations first.`,
    );
  }
  const endpoint = endpointOf(source);
  const properties = await propertiesOf(source);
  const lambda = { properties: { provider: { id: 'default-lambda' }, runtime: 'nodejs', ...properties } };
  const apis = endpoint === undefined ? {} : { apis: await apiWith(client, { parentNames, name, path, endpoint }) };
  const isNew = !environments.includes(`/${parentNames.join('/')}`);
  const newEnvironment = isNew ? { properties: { environment_type: 'development' } } : {};
  const seed = seedOfEnvironment(parentNames, { ...newEnvironment, lambdas: { [name]: lambda }, ...apis });
  await client.ask(seedRoutes.applySeed, jsonBody(seed));
  const id = await findLambda(client, path);
  const organization = parentNames.slice(0, -2).join('.') || 'root';
  const url = `/meta/${encodeURIComponent(organization)}/lambdas/${id}`;
  return { id, path, ...(endpoint !== undefined && { url: await urlOf(client, url, endpoint.resource) }) };
}

function endpointOf({ endpoint }: LambdaSource) {
  if (endpoint === undefined) return undefined;
  const { resource, ...properties } = typeof endpoint === 'string' ? { resource: endpoint } : endpoint;
  return { ...properties, resource: resource.replace(/^[/]*/, '/') };
}

async function propertiesOf(source: LambdaSource): Promise<Record<string, unknown>> {
  const { handler, env, timeoutS: timeout, properties } = source;
  const ownProperties = Object.entries({ handler, env, timeout }).filter(([, value]) => value !== undefined);
  const reported: Record<string, unknown> = { ...properties, ...Object.fromEntries(ownProperties) };
  if ('code' in source) {
    const code = Buffer.from(source.code).toString('base64');
    return { code_type: 'inline', code, handler: 'run', ...reported };
  }
  const folder = resolve(source.folder);
  const found = await stat(folder).catch((cause: Error) => {
    throw failure('NOT_FOUND', `the code to deploy cannot be read: ${cause.message}`, { cause });
  });
  const url = pathToFileURL(folder);
  // The files in the folder may have changed: another address makes them a different package.
  url.searchParams.set('deployed', new Date().toISOString());
  const defaultHandler = () => (found.isDirectory() ? handlerOf(folder) : 'run');
  return { code_type: 'package', package_url: url.href, ...reported, handler: reported.handler ?? defaultHandler() };
}

/** The default handler of a folder: `run` in the main file of its package.json. */
function handlerOf(folder: string): string {
  try {
    const { main } = readManifest(folder);
    return main === undefined ? 'run' : `${findMainFile(folder, main) ?? main};run`;
  } catch (cause) {
    throw failure('REFUSED', reasonOf(cause), { cause });
  }
}

async function apiWith(
  client: Client,
  {
    parentNames,
    name,
    path,
    endpoint,
  }: { parentNames: readonly string[]; name: string; path: string; endpoint: { resource: string } },
): Promise<object> {
  const tree = await client.ask(treeRoutes.searchTree, { query: { word: 'apis', limit: '1000' } });
  const above = `/${parentNames.join('/')}/`;
  const existingApi = pathsIn(tree).find((path) => path.startsWith(above));
  const properties = { ...endpoint, implementation_type: 'lambda', implementation_id: path };
  const apiendpoints = { [name]: { properties } };
  return existingApi
    ? { [lastNameOf(existingApi)]: { apiendpoints } }
    : { [parentNames.join('-')]: { properties: DEFAULT_API, apiendpoints } };
}

async function urlOf(client: Client, lambda: string, endpoint: string): Promise<string> {
  const found = await client.json('GET', `${lambda}/apiendpoints?expand=true`, endpoints);
  const endpointRecord = found.find(({ properties }) => properties.resource === endpoint);
  if (endpointRecord) return endpointRecord.properties.public_url;
  throw failure('NOT_FOUND', `the endpoint ${endpoint} was deleted in the meantime`);
}

/** The path of the only environment; a new path if there is none. */
function onlyEnvironmentPath(paths: readonly string[], named: string): string {
  if (paths.length <= 1) return paths[0] ?? DEFAULT_ENVIRONMENT_PATH;
  const advice = `Give the path of the lambda in one of ${paths.join(', ')}`;
  throw failure('AMBIGUOUS', `'${named}' does not say which of the ${paths.length} environments to use. ${advice}`);
}
