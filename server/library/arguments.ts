import { z } from 'zod';
import { INVOCATION_TRIGGERS } from '../model/invocation.ts';
import { nearestOf } from '../model/nearest.ts';
import { validationMessage } from '../model/validation-message.ts';
import { failure } from './failure.ts';

/*
 * What callers hand over, held against what there is: nothing else tells somebody who writes no TypeScript of a slip, by which an
 * option does nothing and a filter matches all.
 */

const text = z.string();
export const lambdaSource = z.strictObject({
  code: text.optional(),
  folder: text.optional(),
  handler: text.optional(),
  env: z.record(text, z.unknown()).optional(),
  timeoutS: z.number().optional(),
  endpoint: z
    .union([text, z.looseObject({ resource: text })], 'must be a path, or an object whose resource is one')
    .optional(),
  properties: z.record(text, z.unknown()).optional(),
});
export const leadFilter = z.strictObject({
  email: text.optional(),
  since: z.union([text, z.date()], 'must be a valid Date, or a moment as text').optional(),
});
export const wait = z.strictObject({ timeoutMs: z.number().min(0).optional() });
export const invocationFilter = z.strictObject({
  lambda: text.optional(),
  ok: z.boolean().optional(),
  trigger: z.enum(INVOCATION_TRIGGERS).optional(),
});

/** Holds what is handed to a call against what it takes. @throws TerrariumError `REFUSED` */
export function check(call: string, schema: z.ZodObject, given: unknown): void {
  const [issue] = schema.safeParse(given, { error: validationMessage }).error?.issues ?? [];
  if (!issue) return;
  const known = Object.keys(schema.shape);
  if (issue.code !== 'unrecognized_keys')
    throw failure('REFUSED', `${call}: ${issue.path.join('.') || 'what it is given'} ${issue.message}`);
  const [name = ''] = issue.keys;
  const meant = nearestOf(name, known);
  const advice = meant === undefined ? `there are ${known.join(', ')}` : `did you mean '${meant}'?`;
  throw failure('REFUSED', `${call}: '${name}' is none of its options; ${advice}`);
}
