import type { z } from 'zod';
import { namedSchemas } from '../contract/named.ts';
import type { Row, Rows, Verb } from '../contract/row.ts';
import type { JsonObject } from '../model/json.ts';
import { jsonSchemasOf } from './json-schema.ts';
import { type Operation, ref } from './operation.ts';

/** What the document tells of rows: their operations, and the schemas that have a name. */
export function operationsOf(tables: readonly Rows[]): {
  operations: Operation[];
  schemas: Record<string, JsonObject>;
} {
  const rows = tables.flatMap((table) => Object.entries(table));
  const { schemas, schemaOf } = convert(rows.map(([, row]) => row));
  const operations = rows.map(([id, row]): Operation => {
    const [verb, path = ''] = row.route.split(' ');
    const { tag, summary, description, right, query = {}, body, answer } = row;
    return {
      verb: verb as Verb, // the type of a route says what its first word is
      path,
      id,
      tag,
      summary,
      right,
      ...(description !== undefined && { description }),
      parameters: Object.entries(query).map(([name, { description, form, isRequired }]) => ({
        name,
        in: 'query',
        ...(isRequired && { required: true }),
        schema: form,
        description,
      })),
      ...(body && {
        body: { schema: schemaOf(body.schema), mediaTypes: body.mediaTypes, optional: body.isOptional },
      }),
      success: {
        status: answer.status,
        description: answer.description,
        ...(answer.schema && { schema: schemaOf(answer.schema) }),
        ...(answer.mediaTypes && { mediaTypes: answer.mediaTypes }),
        ...(answer.headers && { headers: answer.headers }),
      },
      errors: refusalsOf(row),
    };
  });
  return { operations, schemas };
}

/** The statuses that follow from what a row asks for, and those that it names. */
function refusalsOf({ right, target, query, errors = [] }: Row): number[] {
  const isRead = Object.keys(query ?? {}).length > 0 || target !== undefined;
  return [
    ...(isRead ? [400] : []),
    ...(right === 'none' || right === 'caller' ? [] : [403]),
    ...(target ? [404] : []),
    ...errors,
  ];
}

/** JSON Schemas of what rows are sent and answer; a schema that has a name is mentioned by it. */
function convert(rows: readonly Row[]): {
  schemas: Record<string, JsonObject>;
  schemaOf(schema: z.ZodType): JsonObject;
} {
  const names = new Map([...namedSchemas()].map(([name, schema]) => [schema, name]));
  const unnamed = new Map<z.ZodType, string>();
  for (const { body, answer } of rows) {
    for (const schema of [body?.schema, answer.schema]) {
      if (schema && !names.has(schema)) unnamed.set(schema, `unnamed ${unnamed.size}`);
    }
  }
  const converted = jsonSchemasOf(Object.fromEntries([...names, ...unnamed].map(([schema, name]) => [name, schema])));
  return {
    schemas: Object.fromEntries([...names.values()].map((name) => [name, converted[name] ?? {}])),
    schemaOf(schema) {
      const name = names.get(schema);
      return name === undefined ? (converted[unnamed.get(schema) ?? ''] ?? {}) : ref(name);
    },
  };
}
