import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { jsonBody } from '../contract/row-client.ts';
import { seedRows } from '../contract/seeds.ts';
import { treeRows } from '../contract/tree.ts';
import { lastNameOf, pathsIn } from '../model/resource-path.ts';
import type { DeployedLambda, LambdaSource } from './api.ts';
import { check, lambdaSource } from './arguments.ts';
import type { Client } from './client.ts';
import { failure } from './failure.ts';
import { findLambda } from './find-lambda.ts';

/** Where a lambda is put that nobody gave a place, in a world that has none. */
const OWN_PLACE = '/local/test';
const endpoints = z.array(
  z.looseObject({ properties: z.looseObject({ resource: z.string(), public_url: z.string() }) }),
);
/** The API that is made in an environment that has none. */
const OWN_API = { provider: { id: 'default-gateway-manager', locations: ['default-gateway'] } };

/**
 * Makes or changes a lambda, and its endpoint: as a small seed, which makes what is missing on the way to it and is one commit.
 *
 * @throws TerrariumError
 */
export async function deploy(client: Client, named: string, source: LambdaSource): Promise<DeployedLambda> {
  check('deploy', lambdaSource, source);
  if ('code' in source === 'folder' in source)
    throw failure('REFUSED', "deploy: give either 'code' or 'folder', a folder or a file");
  const environments = pathsIn(
    await client.ask(treeRows.searchTree, { query: { word: 'environments', limit: '1000' } }),
  );
  const path = named.startsWith('/') ? named : `${onlyPlace(environments, named)}/${named}`;
  const place = path.split('/').slice(1, -1);
  const name = lastNameOf(path);
  if (place.length < 2 || [...place, name].includes('')) {
    throw failure(
      'NOT_FOUND',
      `'${named}' is no path of a lambda: give /WORKSPACE/ENVIRONMENT/NAME, organizations before`,
    );
  }
  const endpoint = endpointOf(source);
  const properties = await propertiesOf(source);
  const lambda = { properties: { provider: { id: 'default-lambda' }, runtime: 'nodejs', ...properties } };
  const apis = endpoint === undefined ? {} : { apis: await apiWith(client, { place, name, path, endpoint }) };
  const isNew = !environments.includes(`/${place.join('/')}`);
  const made = isNew ? { properties: { environment_type: 'development' } } : {};
  const seed = { format: 1, ...around(place, { ...made, lambdas: { [name]: lambda }, ...apis }) };
  await client.ask(seedRows.applySeed, jsonBody(seed));
  const id = await findLambda(client, path);
  const organization = place.slice(0, -2).join('.') || 'root';
  const url = `/meta/${encodeURIComponent(organization)}/lambdas/${id}`;
  return { id, path, ...(endpoint !== undefined && { url: await urlOf(client, url, endpoint.resource) }) };
}

function endpointOf({ endpoint }: LambdaSource) {
  if (endpoint === undefined) return undefined;
  const { resource, ...properties } = typeof endpoint === 'string' ? { resource: endpoint } : endpoint;
  return { ...properties, resource: resource.replace(/^[/]*/, '/') };
}

/** What is in an environment, with its workspace and organizations around it, as a seed writes them. */
function around(place: readonly string[], inside: object): object {
  const [environment = '', workspace = '', ...organizations] = place.map((name) => lastNameOf(`/${name}`)).reverse();
  const world = { workspaces: { [workspace]: { environments: { [environment]: inside } } } };
  return organizations.reduce<object>((below, name) => ({ orgs: { [name]: below } }), world);
}

async function propertiesOf(source: LambdaSource): Promise<Record<string, unknown>> {
  const { handler, env, timeoutS: timeout, properties } = source;
  const own = Object.entries({ handler, env, timeout }).filter(([, value]) => value !== undefined);
  const told: Record<string, unknown> = { ...properties, ...Object.fromEntries(own) };
  if ('code' in source) {
    const code = Buffer.from(source.code).toString('base64');
    return { code_type: 'inline', code, handler: 'run', ...told };
  }
  const folder = resolve(source.folder);
  const found = await stat(folder).catch((cause: Error) => {
    throw failure('NOT_FOUND', `what is to be deployed cannot be read: ${cause.message}`, { cause });
  });
  const url = pathToFileURL(folder);
  // The same folder may hold other files by now: at another address they are another package.
  url.searchParams.set('deployed', new Date().toISOString());
  const ofFolder = async () => (found.isDirectory() ? await handlerOf(folder) : 'run');
  return { code_type: 'package', package_url: url.href, ...told, handler: told.handler ?? (await ofFolder()) };
}

/** The handler of a folder: `run` of what its package.json names as its main file. */
async function handlerOf(folder: string): Promise<string> {
  const file = join(folder, 'package.json');
  const text = await readFile(file, 'utf8').catch(() => '{}');
  try {
    const { main } = JSON.parse(text);
    return typeof main === 'string' ? `${main.replace(/^[.][/]/, '')};run` : 'run';
  } catch (cause) {
    throw failure('REFUSED', `${file} is no JSON: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** The API of an environment, with the lambda's endpoint in it. */
async function apiWith(
  client: Client,
  {
    place,
    name,
    path,
    endpoint,
  }: { place: readonly string[]; name: string; path: string; endpoint: { resource: string } },
): Promise<object> {
  const tree = await client.ask(treeRows.searchTree, { query: { word: 'apis', limit: '1000' } });
  const above = `/${place.join('/')}/`;
  const there = pathsIn(tree).find((one) => one.startsWith(above));
  const properties = { ...endpoint, implementation_type: 'lambda', implementation_id: path };
  const apiendpoints = { [name]: { properties } };
  return there
    ? { [lastNameOf(there)]: { apiendpoints } }
    : { [place.join('-')]: { properties: OWN_API, apiendpoints } };
}

async function urlOf(client: Client, lambda: string, endpoint: string): Promise<string> {
  const found = await client.json('GET', `${lambda}/apiendpoints?expand=true`, endpoints);
  const one = found.find(({ properties }) => properties.resource === endpoint);
  if (one) return one.properties.public_url;
  throw failure('NOT_FOUND', `the endpoint ${endpoint} is gone again`);
}

/** The one environment that there is, as a path; a new place where there is none. */
function onlyPlace(paths: readonly string[], named: string): string {
  if (paths.length <= 1) return paths[0] ?? OWN_PLACE;
  const advice = `give its path, below one of ${paths.join(', ')}`;
  throw failure('AMBIGUOUS', `'${named}' can go to ${paths.length} environments: ${advice}`);
}
