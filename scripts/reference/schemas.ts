import { z } from 'zod';
import { jsonSchemaOf } from '../../server/api/openapi/json-schema.ts';
import { isJsonObject, type Json, type JsonObject } from '../../server/model/json.ts';
import { resourceTypes } from '../../server/model/registry.ts';
import type { TypeWord } from '../../server/model/type-words.ts';
import { configSchema } from '../../server/platform/config-schema.ts';
import { settingNotes } from '../../server/plugin/declaration.ts';
import { fileSchema, nodeSchema } from '../../server/services/seeds/read-seed.ts';
import { childWordsOf } from '../../server/services/seeds/seed-node.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** The JSON Schema of `terrarium.json`, with the texts about the settings. */
export function settingsSchema(): JsonObject {
  const schema = z.toJSONSchema(configSchema, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const notes = settingNotes.get(zodSchema);
      if (!notes) return;
      Object.assign(jsonSchema, { description: `${notes.description}; must be ${notes.expected}` });
      // Depends on the machine.
      if (jsonSchema.description?.includes('depends on memory')) delete jsonSchema.default;
    },
  }) as JsonObject; // a JSON Schema is JSON
  const properties = { $schema: { type: 'string' }, ...Object(schema.properties) };
  return { ...schema, $schema: DIALECT, title: 'terrarium.json', description: 'Settings of Terrarium', properties };
}

/** The JSON Schema of world files: the members of the file and of each type, with the collections below. */
export function worldSchema(): JsonObject {
  const { $defs: json, ...node } = jsonSchemaOf(nodeSchema);
  const types = Object.fromEntries(
    resourceTypes.map(({ collection, summary, properties }) => [
      collection,
      { description: summary, ...withCollections(node, collection, propertiesOf(properties)) },
    ]),
  );
  const { $defs: _, ...file } = jsonSchemaOf(fileSchema);
  const title = 'World file of Terrarium';
  return {
    $schema: DIALECT,
    title,
    description: 'Resources from the root organization down',
    ...withCollections(file, 'orgs'),
    $defs: { ...Object(json), ...types },
  };
}

/** A node of a world file with its properties and the resources below it, by name. */
function withCollections(node: JsonObject, collection: TypeWord, properties?: Json): JsonObject {
  const collections = childWordsOf(collection).map((child) => [
    child,
    {
      description: `${child} by name`,
      // An empty one is null in YAML.
      type: ['object', 'null'],
      additionalProperties: { anyOf: [{ $ref: `#/$defs/${child}` }, { type: 'null' }] },
    },
  ]);
  const members = { ...Object(node.properties), ...(properties && { properties }), ...Object.fromEntries(collections) };
  return { ...node, properties: members };
}

/** Properties as in a request, except that a resource can also be named, and that an update can leave out what is required. */
function propertiesOf(schema: z.ZodType): Json {
  const { required: _, ...rest } = jsonSchemaOf(schema);
  return inWorldFile(rest);
}

function inWorldFile(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(inWorldFile);
  if (!isJsonObject(schema)) return schema;
  const { 'x-terrarium-reference': reference, ...rest } = schema;
  const members = Object.entries(rest).filter(([name]) => !name.startsWith('x-terrarium-'));
  const inside = Object.fromEntries(members.map(([name, member]) => [name, inWorldFile(member)]));
  // A world file can also have a path that is relative to it, or a variable.
  if (inside.pattern === '^(https?|file)://') inside.pattern = String.raw`^((https?|file)://|(file:)?\.|\$\{)`;
  if (reference === undefined) return inside;
  const { format: _, ...text } = inside;
  return { ...text, description: `${text.description ?? 'A resource'}: its id, path or name` };
}
