import { z } from 'zod';
import type { ErrorDetail } from '../../../../server/model/errors.ts';
import { jsonIn } from '../../../../server/model/json.ts';
import { stepTo } from '../../../../server/model/patch/pointer.ts';
import type { EditorProblem } from '../../components/editor-props.ts';
import { nearestRange, rangesIn } from './json-places.ts';
import type { Schema } from './use-type-schema.ts';

type JsonSchema = z.core.JSONSchema.JSONSchema;

/**
 * Validates the text of a resource with the schema of its type: only the editable part, without members that the server sets. Loaded when
 * an editor is opened.
 * @param properties the schema of the type's `properties`
 * @param errors validation errors of the server
 */
export function lintFor(properties: Schema, errors: readonly ErrorDetail[] = []): (text: string) => EditorProblem[] {
  const schema = z.fromJSONSchema({
    type: 'object',
    required: ['name', 'properties'],
    additionalProperties: false,
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 255 },
      description: { type: 'string' },
      tags: { type: 'array', items: { type: 'string' } },
      variables: { type: 'object', additionalProperties: { type: 'string' } },
      // The server's document is JSON Schema; the type Schema covers only the part that forms need.
      properties: written(properties) as JsonSchema,
    },
  } as JsonSchema);
  return (text) => {
    const value = jsonIn(text);
    // The editor marks what cannot be read itself.
    if (value === undefined) return [];
    const { error: { issues } = { issues: [] } } = schema.safeParse(value);
    if (issues.length + errors.length === 0) return [];
    const ranges = rangesIn(text);
    const serverProblems = errors.map(({ pointer, message }) =>
      problemAt(nearestRange(ranges, pointer), message, pointer),
    );
    const found = issues.flatMap((issue) => {
      const pointer = issue.path.map((part) => stepTo(String(part))).join('');
      if (issue.code !== 'unrecognized_keys') return [problemAt(nearestRange(ranges, pointer), issue.message, pointer)];
      return issue.keys.map((key) => {
        const { nameFrom, nameTo, ...valueRange } = nearestRange(ranges, `${pointer}${stepTo(key)}`);
        return problemAt(
          { from: nameFrom ?? valueRange.from, to: nameTo ?? valueRange.to },
          'Unknown property',
          pointer + stepTo(key),
        );
      });
    });
    return [...serverProblems, ...found];
  };
}

function problemAt({ from, to }: { from: number; to: number }, message: string, pointer: string): EditorProblem {
  return { from, to, message: `${pointer || '/'}: ${message}` };
}

/** The schema of what a client may write: hidden members are not required. */
function written(schema: Schema): Schema {
  const members = Object.entries(schema.properties ?? {});
  const hidden = members.filter(([, memberSchema]) => memberSchema['x-terrarium-secret']).map(([name]) => name);
  return {
    ...schema,
    ...(schema.required && { required: schema.required.filter((name) => !hidden.includes(name)) }),
  };
}
