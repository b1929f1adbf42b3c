import { z } from 'zod';
import { PlatformError } from '../../model/errors.ts';
import { withoutTrailing } from '../../model/host-names.ts';
import { type Json, memberOf } from '../../model/json.ts';
import type { Platform, PlatformRecord } from './platform.ts';

/** The selected part of an environment: all of it, or one lambda or API with its dependencies. */
export interface Selection {
  collection: 'lambdas' | 'apis';
  name: string;
}

export interface EnvironmentPath {
  fqon: string;
  workspace: string;
  environment: string;
  selection: Selection | undefined;
}

/** An environment with its resources, as its platform returns them. */
export interface TargetSnapshot {
  platform: Platform;
  /** Address and path, for people. */
  title: string;
  fqon: string;
  environment: PlatformRecord;
  lambdas: PlatformRecord[];
  apis: PlatformRecord[];
  endpoints: { api: PlatformRecord; record: PlatformRecord }[];
  /** Nearest first: of the environment, its workspace, its organization. */
  secrets: { id: string; name: string; keys: string[] }[];
  providers: PlatformRecord[];
  /** Names of the variables that a lambda there inherits. */
  variables: string[];
}

const FORM = 'FQON/WORKSPACE/ENVIRONMENT, optionally with /lambdas/NAME or /apis/NAME';

export function parseEnvironmentPath(path: string): EnvironmentPath {
  const [fqon, workspace, environment, collection, ...rest] = withoutTrailing(path.replace(/^\/+/, ''), '/').split('/');
  const name = rest.join('/');
  const isPart = collection === undefined || ((collection === 'lambdas' || collection === 'apis') && name !== '');
  if (!fqon || !workspace || !environment || !isPart || !/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(fqon)) {
    throw new PlatformError('invalid_body', `"${path.slice(0, 200)}" is not a path of an environment. Give ${FORM}.`);
  }
  return { fqon, workspace, environment, selection: collection === undefined ? undefined : { collection, name } };
}

/** Reads the environment of that name and all that is in it. Throws 404 when there is none, and as `Platform`. */
export async function readSnapshot(
  platform: Platform,
  { fqon, workspace, environment }: EnvironmentPath,
): Promise<TargetSnapshot> {
  const { id: workspaceId } = await named(platform, `/${fqon}/workspaces`, 'workspace', workspace);
  const { id } = await named(platform, `/${fqon}/workspaces/${workspaceId}/environments`, 'environment', environment);
  return snapshotOf(platform, fqon, id, `${fqon}/${workspace}/${environment}`);
}

async function named(platform: Platform, path: string, noun: string, name: string): Promise<PlatformRecord> {
  const records = await platform.list(`${path}?expand=true`);
  const match = records.find((record) => record.name === name);
  if (match) return match;
  const existingNames = records.map((record) => record.name).join(', ') || 'none that you may view';
  throw new PlatformError(
    'not_found',
    `${platform.metaUrl}${path} has no ${noun} '${name}'. Existing: ${existingNames}`,
  );
}

export async function snapshotOf(platform: Platform, fqon: string, id: string, path: string): Promise<TargetSnapshot> {
  const address = `/${fqon}/environments/${id}`;
  const [environment, lambdas, apis, providers, variables = {}] = await Promise.all([
    platform.get(address),
    platform.list(`${address}/lambdas?expand=true`),
    platform.list(`${address}/apis?expand=true`),
    platform.list(`${address}/providers?type=Lambda&expand=true`),
    platform.find(`${address}/env`, z.record(z.string(), z.unknown())),
  ]);
  const secrets = await secretsAt(platform, fqon, environment);
  const endpoints: TargetSnapshot['endpoints'] = [];
  // One after the other: an environment can have many.
  for (const api of apis) {
    const records = await platform.list(`/${fqon}/apis/${api.id}/apiendpoints?expand=true`);
    endpoints.push(...records.map((record) => ({ api, record })));
  }
  for (const [noun, records] of [
    ['lambda', lambdas],
    ['API', apis],
  ] as const) {
    const twice = records.find(({ name }, index) => records.findIndex((earlier) => earlier.name === name) !== index);
    if (twice)
      throw new PlatformError(
        'destination_failed',
        `${platform.metaUrl}${address} has two ${noun}s named '${twice.name}'`,
      );
  }
  const title = `${platform.metaUrl} ${path}`;
  const inherited = { secrets, providers, variables: Object.keys(variables) };
  return { platform, title, fqon, environment, lambdas, apis, endpoints, ...inherited };
}

const recordsSchema = z.array(z.looseObject({ id: z.string(), name: z.string() })).catch([]);
const itemsSchema = z.array(z.looseObject({ key: z.string() })).catch([]);

async function secretsAt(platform: Platform, fqon: string, { id, properties }: PlatformRecord) {
  const [ownSecrets = [], above = []] = await Promise.all([
    platform.find(`/${fqon}/environments/${id}/secrets?expand=true`, recordsSchema),
    platform.find(`/${fqon}/secrets?expand=true`, recordsSchema),
  ]);
  const workspace = memberOf(properties.workspace, 'id');
  return [...ownSecrets, ...above.filter((secret) => isInherited(secret, workspace))].map((secret) => ({
    id: secret.id,
    name: secret.name,
    keys: itemsSchema.parse(memberOf(memberOf(secret, 'properties'), 'items')).map(({ key }) => key),
  }));
}

/** True if it belongs to the workspace or the organization, and to no other workspace or environment. */
function isInherited(record: unknown, workspace: Json | undefined): boolean {
  const parent = memberOf(memberOf(record, 'properties'), 'parent');
  const id = memberOf(parent, 'id');
  const org = memberOf(memberOf(record, 'org'), 'id');
  return id === undefined || id === workspace || id === org;
}

/** Returns a lambda with its endpoints and their APIs, or an API with its endpoints and their lambdas. */
export function selected(snapshot: TargetSnapshot, selection: Selection | undefined): TargetSnapshot {
  if (!selection) return snapshot;
  const { collection, name } = selection;
  const selectedRecord = snapshot[collection].find((record) => record.name === name);
  if (!selectedRecord)
    throw new PlatformError('not_found', `${snapshot.title} has no ${collection.slice(0, -1)} '${name}'`);
  const endpoints = snapshot.endpoints.filter(({ api, record }) =>
    collection === 'apis' ? api.id === selectedRecord.id : record.properties.implementation_id === selectedRecord.id,
  );
  const isNamed = ({ id }: PlatformRecord) =>
    id === selectedRecord.id ||
    endpoints.some(({ api, record }) => api.id === id || record.properties.implementation_id === id);
  return { ...snapshot, lambdas: snapshot.lambdas.filter(isNamed), apis: snapshot.apis.filter(isNamed), endpoints };
}
