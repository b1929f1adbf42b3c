import type { ErrorForm, Row } from '../contract/row.ts';
import type { JsonObject } from '../model/json.ts';
import { ref } from './json-schema.ts';
import { errorResponse, refusalsOf } from './operation.ts';

/** What each status means (D-182). */
const meanings: Readonly<Record<number, string>> = {
  400: 'Malformed, or against the schema',
  401: 'Not authenticated',
  403: 'The right to do this is missing',
  404: 'Unknown id, organization or route',
  405: 'Not one of the methods of this path',
  409: 'Conflict: name taken, children, a limit, or an incompatible environment type',
  413: 'The body is too large',
  415: 'The body is of another content type',
  422: 'The patch does not apply, or what the record names does not exist',
  426: 'Only to be had as a WebSocket',
  429: 'Too many requests',
  500: 'The lambda failed',
  501: 'Not emulated',
  502: 'The lambda or container misbehaved',
  503: 'Not available now',
  504: 'No answer in time',
};

/** A header of answers with this status, if there is one. */
const headers: Readonly<Record<number, [name: string, description: string, type: string]>> = {
  401: ['WWW-Authenticate', 'How to authenticate', 'string'],
  405: ['Allow', 'The methods of this path', 'string'],
  426: ['Upgrade', '`websocket`', 'string'],
  429: ['Retry-After', 'Seconds', 'integer'],
  503: ['Retry-After', 'Seconds', 'integer'],
};

/** `components.responses`: each status in each form that rows can refuse with (D-180). */
export function errorResponses(rows: readonly Row[]): JsonObject {
  const responses: JsonObject = {};
  for (const row of rows) {
    const { errorForm = 'Error' } = row;
    for (const status of refusalsOf(row)) responses[errorResponse(errorForm, status)] ??= response(errorForm, status);
  }
  return responses;
}

function response(form: ErrorForm, status: number): JsonObject {
  const description = meanings[status];
  if (description === undefined) throw new Error(`no meaning is given for status ${status}`);
  const header = headers[status];
  return {
    description,
    ...(header && { headers: { [header[0]]: { description: header[1], schema: { type: header[2] } } } }),
    content: { 'application/json': { schema: ref(form) } },
  };
}
