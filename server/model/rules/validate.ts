import type { z } from 'zod';
import { type ErrorDetail, PlatformError } from '../errors.ts';
import { pointerTo } from '../patch/pointer.ts';
import { validationMessage } from './validation-message.ts';

const MAX_DETAILS = 20;

function detailsOf(error: z.ZodError, base: string): ErrorDetail[] {
  return error.issues
    .flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => ({
            pointer: pointerTo([...issue.path, key], base),
            message: 'is not a known member',
          }))
        : [{ pointer: pointerTo(issue.path, base) || '/', message: issue.message }],
    )
    .slice(0, MAX_DETAILS);
}

/** Throws 400 whose message contains the first violation and whose details contain all, by JSON Pointer below `base`. */
export function parseWith<T extends z.ZodType>(schema: T, value: unknown, base = ''): z.output<T> {
  const result = schema.safeParse(value, { error: validationMessage });
  if (result.success) return result.data;
  const details = detailsOf(result.error, base);
  const [first] = details;
  throw new PlatformError('invalid_body', first ? `${first.pointer}: ${first.message}` : 'invalid value', { details });
}
