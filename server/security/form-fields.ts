import { PlatformError } from '../model/errors.ts';

/** The field of a form; an empty one counts as absent (RFC 6749 section 3.2). Throws 400 when it is missing. */
export function requiredField(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (!value) throw new PlatformError(400, `form field '${name}' is missing`);
  return value;
}

/** Throws 400 when a field of the form stands more than once (D-171). */
export function refuseDuplicates(form: URLSearchParams): void {
  for (const name of new Set(form.keys())) {
    if (form.getAll(name).length > 1) {
      throw new PlatformError(400, `form field '${name.slice(0, 64)}' may be given only once`);
    }
  }
}
