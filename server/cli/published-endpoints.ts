import { z } from 'zod';
import type { AppliedSeed } from '../api/routes/seeds.ts';
import { treeRoutes } from '../api/routes/tree.ts';
import type { PlatformClient } from './platform-client.ts';

const MAX_ENDPOINTS = 20;

const endpointSchema = z.looseObject({
  properties: z.looseObject({
    public_url: z.string(),
    implementation_id: z.string(),
    methods: z.array(z.string()).optional(),
  }),
});

export interface PublishedEndpoint {
  name: string;
  methods: string[];
  url: string;
  lambda: string;
}

/** The lambdas and the first endpoints of an applied document. */
export interface Published {
  lambdas: { id: string; name: string }[];
  endpoints: PublishedEndpoint[];
}

export async function readPublished(client: PlatformClient, { changes }: AppliedSeed): Promise<Published> {
  const query = { word: 'apiendpoints,lambdas', limit: '1000' };
  const { rows } = await client.ask(treeRoutes.searchTree, { query });
  const ids = new Set(changes.map(({ id }) => id));
  const applied = rows.filter((row) => ids.has(row.id));
  const endpoints = applied.filter((row) => row.word === 'apiendpoints').slice(0, MAX_ENDPOINTS);
  return {
    lambdas: applied.filter((row) => row.word === 'lambdas').map(({ id, name }) => ({ id, name })),
    endpoints: await Promise.all(
      endpoints.map(async ({ id, fqon, name }) => {
        const path = `/meta/${encodeURIComponent(fqon)}/apiendpoints/${id}`;
        const { properties } = await client.json('GET', path, endpointSchema);
        const lambda =
          rows.find((row) => row.id === properties.implementation_id)?.name ?? properties.implementation_id;
        return { name, methods: properties.methods ?? [], url: properties.public_url, lambda };
      }),
    ),
  };
}

/** Rows of a table: name, method and address, and lambda of each endpoint. */
export const endpointRows = ({ endpoints }: Published): string[][] =>
  endpoints.map(({ name, methods, url, lambda }) => [name, `${methods[0] ?? 'POST'} ${url}`, `> ${lambda}`]);
