import type { JsonObject } from '../../model/json.ts';
import { listOf, ref } from './json-schema.ts';

const text: JsonObject = { type: 'string' };
const count: JsonObject = { type: 'integer', minimum: 0 };
const links = listOf(ref('Link'));

/** The properties that the server sets on any type (D-028). */
const served: Readonly<Record<string, JsonObject>> = {
  fqon: text,
  children: links,
  workspace: ref('Link'),
  external_id: text,
  age: { type: 'string', format: 'date-time' },
  status: text,
  status_detail: { type: ['string', 'object', 'null'] },
  tasks_running: count,
  tasks_healthy: count,
  tasks_unhealthy: count,
  tasks_staged: count,
  instances: listOf({ type: 'object' }),
  events: listOf({ type: 'object' }),
  service_addresses: listOf({ type: 'object' }),
  provider: { type: 'object', properties: { id: { type: 'string', format: 'uuid' } }, required: ['id'] },
  location_id: text,
  upstream_url: text,
  public_url: text,
  groups: links,
  rules: links,
  defined_at: ref('Link'),
  container: ref('Link'),
};

/** The schema of a property that the server sets. Throws for an unknown one: add it to the table. */
export function servedProperty(name: string): JsonObject {
  const schema = served[name];
  if (schema) return schema;
  throw new Error(`the API document has no schema for the server-set property '${name}'`);
}
