import { load, type Send } from '../../api/client.ts';
import { createPath } from '../../api/resource-kinds.ts';
import type { TreePlace } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/use-world.ts';

/** Properties of a new endpoint of a lambda, without its path. */
export interface Answering {
  methods?: readonly string[];
  is_http_aware?: boolean;
  synchronous?: boolean;
  plugins?: unknown;
}

export interface PublicRequest {
  lambda: Pick<PlatformRecord, 'id' | 'name'>;
  /** The environment that the lambda is in, and what is above it. */
  location: TreePlace;
  /** Below the API. */
  path: string;
  answering?: Answering | undefined;
  send: Send;
}

/** An endpoint belongs to an API, and an API to an environment. */
export const canBePublic = (location: TreePlace | undefined | null): location is TreePlace =>
  location?.resource.word === 'environments';

/** `/my-form`, for a lambda of any name. */
export const pathFor = (name: string): string => `/${name.trim().replaceAll(/[^A-Za-z0-9._-]+/g, '-')}`;

/** The APIs of an environment, by which an address there begins. */
export function loadApis({ resource }: TreePlace): Promise<PlatformRecord[]> {
  return load(`/meta${createPath(resource, 'apis')}`, { expand: true });
}

/** Name of the first API of an environment: that of the workspace, because it is part of the public URL. */
export const firstApiName = ({ resource, path }: TreePlace): string =>
  (path.findLast(({ word: collection }) => collection === 'workspaces') ?? resource).name;

/** Creates an endpoint for a lambda in the oldest API of its environment; creates the API if there is none. */
export async function makePublic({ lambda, location, path, answering, send }: PublicRequest): Promise<PlatformRecord> {
  const [existingApi] = await loadApis(location);
  const api =
    existingApi ??
    (await send<PlatformRecord>('POST', `/meta${createPath(location.resource, 'apis')}`, {
      name: firstApiName(location),
      properties: {},
    }));
  const parent = { word: 'apis', id: api.id, fqon: location.resource.fqon } as const;
  return send('POST', `/meta${createPath(parent, 'apiendpoints')}`, {
    name: lambda.name,
    properties: { resource: path, implementation_type: 'lambda', implementation_id: lambda.id, ...answering },
  });
}
