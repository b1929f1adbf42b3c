import { useQuery } from '@tanstack/react-query';
import { load } from '../../api/client.ts';

/** The part of a JSON Schema that a form is made from. */
export interface Schema {
  type?: string;
  description?: string;
  enum?: unknown[];
  examples?: unknown[];
  readOnly?: boolean;
  default?: unknown;
  minimum?: number;
  additionalProperties?: Schema | boolean;
  properties?: Record<string, Schema>;
  required?: string[];
}

interface OpenApi {
  components: { schemas: Record<string, Schema> };
}

/** The schema of a type's properties, from the server's own API document. */
export function useTypeSchema(name: string): Schema | undefined {
  const { data } = useQuery({
    queryKey: ['openapi'],
    queryFn: ({ signal }) => load<OpenApi>('/openapi.json', {}, signal),
    // It changes with the server only.
    gcTime: Number.POSITIVE_INFINITY,
  });
  return data?.components.schemas[name];
}

/** Properties that only the server sets; those that are always its own when there is no schema yet. */
export function readOnlyIn(schema: Schema | undefined): ReadonlySet<string> {
  const names = Object.entries(schema?.properties ?? {}).flatMap(([name, { readOnly }]) => (readOnly ? [name] : []));
  return new Set(['parent', ...names]);
}
