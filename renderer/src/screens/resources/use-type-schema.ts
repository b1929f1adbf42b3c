import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { FormFact, ReferenceFact } from '../../../../server/model/property-facts.ts';
import { loadAs } from '../../api/client.ts';

/** The part of a JSON Schema that a form is made from. */
export interface Schema {
  title?: string;
  type?: string;
  description?: string;
  enum?: unknown[];
  examples?: unknown[];
  /** Responses never contain it. */
  'x-terrarium-secret'?: boolean;
  additionalProperties?: Schema | boolean;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  'x-terrarium-default'?: unknown;
  'x-terrarium-form'?: Omit<FormFact, 'label'>;
  'x-terrarium-reference'?: ReferenceFact['to'];
  /** Names of the properties that only the server sets. They are not in `properties`. */
  'x-terrarium-server-set'?: string[];
  /** Initial values of a new one. */
  'x-terrarium-first'?: Record<string, unknown>;
}

interface OpenApi {
  components: { schemas: Record<string, Schema> };
}

/** The server's own API document: every type's schema is in it. */
function useAllSchemas(): Record<string, Schema> | undefined {
  const { data } = useQuery({
    queryKey: ['openapi'],
    queryFn: ({ signal }) => loadAs<OpenApi>('/openapi.json', {}, signal),
    // It changes with the server only.
    gcTime: Number.POSITIVE_INFINITY,
  });
  return data?.components.schemas;
}

export function useTypeSchema(name: string): Schema | undefined {
  return useAllSchemas()?.[name];
}

/** Full names of a type's sub-types, e.g. of providers; empty for a type that has none. */
export function useSubTypes(propertiesName: string): readonly string[] {
  const components = useAllSchemas();
  return useMemo(() => {
    const record = components?.[propertiesName.replace('Properties', '')];
    return (record?.properties?.resource_type?.examples ?? []).map(String);
  }, [components, propertiesName]);
}

/** Properties that only the server sets. */
export function readOnlyIn(schema: Schema): ReadonlySet<string> {
  return new Set(schema['x-terrarium-server-set']);
}
