import { z } from 'zod';
import type { AppliedSeed, SeedChange } from '../api/routes/seeds.ts';
import { type PlatformClient, Refusal } from './platform-client.ts';

const MAX_ENDPOINTS = 20;

const endpointSchema = z.looseObject({
  properties: z.looseObject({
    public_url: z.string(),
    implementation_type: z.string(),
    implementation_id: z.string(),
    methods: z.array(z.string()).optional(),
  }),
});

const namedSchema = z.looseObject({ name: z.string() });

export interface PublishedEndpoint {
  name: string;
  methods: string[];
  url: string;
  lambda: string;
}

/** The lambdas and the first endpoints of an applied document, without endpoints that do not exist any more. */
export interface Published {
  lambdas: { id: string; name: string }[];
  endpoints: PublishedEndpoint[];
}

export async function readPublished(client: PlatformClient, { changes }: AppliedSeed): Promise<Published> {
  const applied = (type: SeedChange['type']) =>
    changes.flatMap(({ id, path, action, ...change }) =>
      id !== undefined && action !== 'delete' && change.type === type
        ? [{ id, name: path.slice(path.lastIndexOf('/') + 1) }]
        : [],
    );
  const lambdas = applied('lambdas');
  const endpoints = applied('apiendpoints').slice(0, MAX_ENDPOINTS);
  const existing = await Promise.all(
    endpoints.map(async ({ id, name }) => {
      const endpoint = client.json('GET', `/meta/root/apiendpoints/${id}`, endpointSchema);
      const { properties } = (await endpoint.catch(undefinedIfGone)) ?? {};
      if (!properties) return [];
      const { implementation_type: type, implementation_id: target, methods = [], public_url: url } = properties;
      const { name: lambda } =
        lambdas.find(({ id }) => id === target) ??
        (await client.json('GET', `/meta/root/${type}s/${target}`, namedSchema));
      return [{ name, methods, url, lambda }];
    }),
  );
  return { lambdas, endpoints: existing.flat() };
}

function undefinedIfGone(failure: unknown): undefined {
  if (!(failure instanceof Refusal) || failure.status !== 404) throw failure;
}

/** Rows of a table: name, method and address, and lambda of each endpoint. */
export const endpointRows = ({ endpoints }: Published): string[][] =>
  endpoints.map(({ name, methods, url, lambda }) => [name, `${methods[0] ?? 'POST'} ${url}`, `> ${lambda}`]);
