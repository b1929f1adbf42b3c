import type { z } from 'zod';
import { PlatformError } from '../model/errors.ts';

/**
 * The fields of a form, by their names; an empty one counts as absent (RFC 6749 section 3.2). Throws 400 for a field that stands
 * more than once (D-171), and for one that is missing.
 */
export function readFields<Schema extends z.ZodType>(schema: Schema, sent: URLSearchParams): z.output<Schema> {
  for (const name of new Set(sent.keys())) {
    if (sent.getAll(name).length > 1) {
      throw new PlatformError(400, `form field '${name.slice(0, 64)}' may be given only once`);
    }
  }
  const { success, data, error } = schema.safeParse(Object.fromEntries([...sent].filter(([, value]) => value !== '')));
  if (success) return data;
  throw new PlatformError(400, `form field '${error.issues[0]?.path.join('.')}' is missing`);
}
