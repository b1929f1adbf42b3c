import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../model/errors.ts';

/** Of most requests, so it is one for all of them. */
const NOTHING = new URLSearchParams();

/** The query parameters of a request, in the order sent. */
export function queryOf(req: IncomingMessage): URLSearchParams {
  const { url = '' } = req;
  const mark = url.indexOf('?');
  return mark < 0 ? NOTHING : new URLSearchParams(url.slice(mark + 1));
}

/** A parameter that may stand once; undefined when absent. Throws 400 when it is repeated (D-012). */
export function singleParameter(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw new PlatformError(400, `query parameter '${name}' may be given only once`);
  return values[0];
}
