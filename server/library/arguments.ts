import { z } from 'zod';
import type { ErrorCode as Reason } from '../model/error-codes.ts';
import { PlatformError } from '../model/errors.ts';
import { INVOCATION_TRIGGERS } from '../model/invocation.ts';
import { nearestOf } from '../model/nearest.ts';
import { validationMessage } from '../model/rules/validate.ts';
import type { ErrorCode, LibraryHooks, TerrariumError } from './api.ts';

/*
 * Validates the arguments of callers. Without TypeScript nothing else would report a misspelled name: the option would have no effect,
 * and the filter would match everything.
 */

const text = z.string();
export const lambdaSource = z.strictObject({
  code: text.optional(),
  folder: text.optional(),
  handler: text.optional(),
  env: z.record(text, z.unknown()).optional(),
  timeoutS: z.number().optional(),
  endpoint: z
    .union([text, z.looseObject({ resource: text })], 'must be a path, or an object with a path in resource')
    .optional(),
  properties: z.record(text, z.unknown()).optional(),
});
export const leadFilter = z.strictObject({
  email: text.optional(),
  since: z.union([text, z.date()], 'must be a valid Date, or a time as text').optional(),
});
export const mailFilter = z.strictObject({
  to: text.optional(),
  subject: text.optional(),
  since: leadFilter.shape.since,
});
const hook = z.unknown().optional();
export const knownHooks = z.strictObject({
  onInvocation: hook,
  onWarning: hook,
  onFault: hook,
} satisfies Record<keyof LibraryHooks, z.ZodType>);
export const wait = z.strictObject({ timeoutMs: z.number().min(0).optional() });
export const invocationFilter = z.strictObject({
  lambda: text.optional(),
  ok: z.boolean().optional(),
  trigger: z.enum(INVOCATION_TRIGGERS).optional(),
});

/** Validates the arguments of a call. @throws TerrariumError `REFUSED` */
export function check(call: string, schema: z.ZodObject, value: unknown): void {
  const [issue] = schema.safeParse(value, { error: validationMessage }).error?.issues ?? [];
  if (!issue) return;
  const validNames = Object.keys(schema.shape);
  if (issue.code !== 'unrecognized_keys')
    throw failure('REFUSED', `${call}: ${issue.path.join('.') || 'the argument'} ${issue.message}`);
  const [name = ''] = issue.keys;
  const nearestName = nearestOf(name, validNames);
  const advice =
    nearestName === undefined ? `valid options: ${validNames.join(', ')}` : `did you mean '${nearestName}'?`;
  throw failure('REFUSED', `${call}: '${name}' is not a valid option; ${advice}`);
}

/** Codes by the name of the error; an error at the start of a plugin is wrapped and keeps its name. */
const CODES: Readonly<Record<string, ErrorCode>> = { UserError: 'SETTING', SeedError: 'SEED', StoreError: 'DATA' };

export function failure(
  code: TerrariumError['code'],
  message: string,
  more: { status?: number; reason?: Reason; cause?: unknown } = {},
): TerrariumError {
  const { cause, ...rejection } = more;
  return Object.assign(new Error(message, cause === undefined ? undefined : { cause }), { code, ...rejection });
}

/** Converts an error of the platform; returns other errors unchanged. */
function withCode(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || 'code' in thrown) return thrown;
  const { message, cause } = thrown;
  const code = CODES[thrown.name];
  const rejection = cause instanceof PlatformError && { status: cause.status, reason: cause.reason };
  if (code !== undefined) return failure(code, message, { ...rejection, cause: thrown });
  if (!(thrown instanceof PlatformError)) return thrown;
  const { status, reason } = thrown;
  return failure(status === 404 ? 'NOT_FOUND' : 'REFUSED', message, { status, reason, cause: thrown });
}

/** Runs an operation of the platform; its errors get a `code`. */
export async function coded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw withCode(thrown);
  }
}
