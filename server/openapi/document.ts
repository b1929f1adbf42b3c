import type { z } from 'zod';
import { builtInRows, endpointRows } from '../contract/gateway.ts';
import { namedSchemas } from '../contract/named.ts';
import type { Row, Rows } from '../contract/row.ts';
import { PREFIX } from '../contract/security.ts';
import { controlPlaneTables } from '../contract/tables.ts';
import type { JsonObject } from '../model/json.ts';
import { errorResponses } from './error-responses.ts';
import { introduction } from './introduction.ts';
import { jsonSchemasOf, ref } from './json-schema.ts';
import { parametersOf, pathsOf, type SchemaOf, withPathsOfTheirOwn } from './operation.ts';
import { tagGroups } from './tags.ts';
import { typeSchemas } from './type-schemas.ts';

export interface DocumentOptions {
  /** Version of the emulator: the interface itself has none (D-199). */
  version: string;
  /** First segment of type names (D-080). */
  typePrefix: string;
  /** `{base_url}` as the reader reaches it, without a slash at its end. */
  baseUrl: string;
  /** `{gateway_url}`, likewise. */
  gatewayUrl: string;
}

/** The OpenAPI 3.1 document of the whole platform: what the rows of the contract say, with the types of the registry. */
export function openApiDocument({ version, typePrefix, baseUrl, gatewayUrl }: DocumentOptions): JsonObject {
  const controlPlane = withPathsOfTheirOwn(entriesOf(controlPlaneTables));
  const gateway = withPathsOfTheirOwn(entriesOf([builtInRows, endpointRows]));
  const rows = [...controlPlane, ...gateway];
  const { schemas, schemaOf } = convert(
    rows.map(([, row]) => row),
    typePrefix,
  );
  const groups = tagGroups();
  return {
    openapi: '3.1.0',
    info: {
      title: 'Terrarium',
      summary: 'A whole cloud platform on your desk',
      description: introduction(baseUrl, typePrefix),
      version,
    },
    servers: [{ url: baseUrl, description: 'Control plane' }],
    security: [{ bearer: [] }, { basic: [] }],
    tags: groups.flatMap(({ tags }) => tags.map(([name, description]) => ({ name, description }))),
    'x-tagGroups': groups.map(({ name, tags }) => ({ name, tags: tags.map(([tag]) => tag) })),
    paths: {
      ...pathsOf(controlPlane, schemaOf),
      ...pathsOf(gateway, schemaOf, [{ url: gatewayUrl, description: 'Gateway' }]),
    },
    components: {
      schemas: { ...schemas, ...typeSchemas(typePrefix) },
      parameters: parametersOf(rows),
      responses: errorResponses(rows.map(([, row]) => row)),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token of the security service' },
        basic: { type: 'http', scheme: 'basic', description: 'An API key and its secret' },
      },
    },
  };
}

function entriesOf(tables: readonly Rows[]): [id: string, row: Row][] {
  return tables.flatMap((table) => Object.entries(table));
}

/** JSON Schemas of what rows are sent and answer; a schema that has a name is mentioned by it. */
function convert(
  rows: readonly Row[],
  typePrefix: string,
): { schemas: Record<string, JsonObject>; schemaOf: SchemaOf } {
  const names = new Map([...namedSchemas()].map(([name, schema]) => [schema, name]));
  const unnamed = new Map<z.ZodType, string>();
  for (const { body, answer } of rows) {
    for (const schema of [body?.schema, answer?.schema]) {
      if (schema && !names.has(schema) && !unnamed.has(schema)) unnamed.set(schema, `unnamed ${unnamed.size}`);
    }
  }
  const all = jsonSchemasOf(Object.fromEntries([...names, ...unnamed].map(([schema, name]) => [name, schema])));
  const converted: Record<string, JsonObject> = JSON.parse(
    JSON.stringify(all).replaceAll(PREFIX, typePrefix.toLowerCase()),
  );
  return {
    // By name: who imported which rows first is nobody's business.
    schemas: Object.fromEntries([...names.values()].sort().map((name) => [name, converted[name] ?? {}])),
    schemaOf(schema) {
      const name = names.get(schema);
      return name === undefined ? (converted[unnamed.get(schema) ?? ''] ?? {}) : ref(name);
    },
  };
}
