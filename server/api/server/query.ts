import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../../model/errors.ts';

/** Shared by all requests without a query. */
const NO_PARAMETERS = new URLSearchParams();

/** The query parameters of a request, in the order of the request. */
export function queryOf(req: IncomingMessage): URLSearchParams {
  const { url = '' } = req;
  const mark = url.indexOf('?');
  return mark < 0 ? NO_PARAMETERS : new URLSearchParams(url.slice(mark + 1));
}

/** A parameter that must not be repeated; undefined if absent. Throws 400 if it is repeated (D-012). */
export function singleParameter(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) throw new PlatformError('invalid_query', `query parameter '${name}' must not be repeated`);
  return values[0];
}
