import { tables } from '../contract/tables.ts';
import type { JsonObject } from '../model/json.ts';
import { emulatorOperations } from './emulator-operations.ts';
import { emulatorSchemas } from './emulator-schemas.ts';
import { errorResponses } from './error-responses.ts';
import { gatewayOperations } from './gateway-operations.ts';
import { genericOperations } from './generic-operations.ts';
import { globalOperations } from './global-operations.ts';
import { introduction } from './introduction.ts';
import { jsonSchemasOf } from './json-schema.ts';
import { pathsOf } from './operation.ts';
import { parameters } from './parameters.ts';
import { recordOperations } from './record-operations.ts';
import { resourceSchemas } from './resource-schemas.ts';
import { operationsOf } from './row-operations.ts';
import { securityOperations } from './security-operations.ts';
import { securitySchemas } from './security-schemas.ts';
import { tagGroups } from './tags.ts';
import { typeOperations } from './type-operations.ts';
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

/**
 * The OpenAPI 3.1 document of the whole platform: the routes and schemas of resource types follow from the registry, what is
 * special stands in the tables beside this file.
 */
export function openApiDocument({ version, typePrefix, baseUrl, gatewayUrl }: DocumentOptions): JsonObject {
  const rows = operationsOf(tables);
  const controlPlane = [
    ...globalOperations,
    ...recordOperations(),
    ...typeOperations,
    ...genericOperations,
    ...securityOperations,
    ...emulatorOperations,
    ...rows.operations,
  ];
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
      ...pathsOf(controlPlane),
      ...pathsOf(gatewayOperations, [{ url: gatewayUrl, description: 'Gateway' }]),
    },
    components: {
      schemas: {
        ...typeSchemas(typePrefix),
        ...jsonSchemasOf({ ...resourceSchemas, ...securitySchemas(typePrefix), ...emulatorSchemas }),
        ...rows.schemas,
      },
      parameters: parameters(),
      responses: errorResponses([...controlPlane, ...gatewayOperations]),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token of the security service' },
        basic: { type: 'http', scheme: 'basic', description: 'An API key and its secret' },
      },
    },
  };
}
