import type { IncomingMessage } from 'node:http';
import type express from 'express';
import { parse as parseSafely } from 'secure-json-parse';
import { invalid, PlatformError, reasonOf } from '../../model/errors.ts';
import { faultOfJson, type Json, MALFORMED_TEXT, pathOfMalformedText } from '../../model/json.ts';
import { pointerTo } from '../../model/patch/pointer.ts';
import { FORM_TYPE } from '../routes/route.ts';
import { readWholeBody } from './whole-body.ts';

/** The setting of an express app for the maximum size of a request body in bytes (D-007, D-185). */
export const BODY_LIMIT_SETTING = 'request body bytes';

const DEFAULT_BODY_LIMIT_BYTES = 10 * 1024 * 1024;

/** The whole body; empty if there is none. */
async function readBytes(req: IncomingMessage): Promise<Buffer> {
  // Compressed bodies are refused, because decompressing could exceed the limit (D-182).
  if (!/^(identity)?$/i.test(req.headers['content-encoding'] ?? ''))
    throw new PlatformError(
      'unsupported_media_type',
      'the Content-Encoding is not supported. Send the body without compression.',
    );
  const request = req as express.Request; // every request of the control plane comes through express
  const maxBytes = Number(request.app.get(BODY_LIMIT_SETTING) ?? DEFAULT_BODY_LIMIT_BYTES);
  const bytes = await readWholeBody(req, maxBytes).catch((failure) => {
    if (failure instanceof PlatformError) throw failure;
    throw new PlatformError('invalid_body', 'the request body could not be read', { cause: failure });
  });
  // Where exchange-recording.ts reads it.
  request.body = bytes;
  return bytes;
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new PlatformError('invalid_body', 'the request body is not valid UTF-8', { cause });
  }
}

/** Only an escape can stand for half of a surrogate pair, because the text itself is valid UTF-8. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/** Parses untrusted JSON; throws 400 for malformed, too deep or too large JSON, for prototype keys and for malformed Unicode. */
export function parseJson(text: string): Json {
  const fault = faultOfJson(text);
  if (fault) throw new PlatformError('invalid_body', fault);
  let value: Json;
  try {
    value = parseSafely(text, undefined, { protoAction: 'error', constructorAction: 'error' }) as Json; // parse() is typed any
  } catch (cause) {
    throw new PlatformError('invalid_body', `malformed JSON: ${reasonOf(cause).slice(0, 200)}`, { cause });
  }
  const path = SURROGATE_ESCAPE.test(text) ? pathOfMalformedText(value) : undefined;
  if (path) throw invalid(pointerTo(path), MALFORMED_TEXT);
  return value;
}

/** The body as text, '' if there is none. Throws 415 for a non-empty body of another type, 413 above the limit, 400 for invalid UTF-8. */
export async function readText(
  req: IncomingMessage,
  acceptedTypes: readonly string[],
): Promise<{ type: string; text: string }> {
  const bytes = await readBytes(req);
  const [type = ''] = (req.headers['content-type'] ?? '').toLowerCase().split(/\s*;/, 1);
  if (bytes.length > 0 && !acceptedTypes.includes(type)) throw unsupportedType(acceptedTypes);
  return { type, text: textOf(bytes) };
}

function unsupportedType(acceptedTypes: readonly string[]): PlatformError {
  return new PlatformError(
    'unsupported_media_type',
    `the content type is not supported. Send the body as ${acceptedTypes.join(' or ')} and set the Content-Type header.`,
  );
}

/** The JSON body of a request, undefined if it is empty (D-007). Throws as `readText` does, and 400 for invalid JSON. */
export async function readJson(req: IncomingMessage, types: readonly string[] = []): Promise<Json | undefined> {
  const { text } = await readText(req, [...new Set(['application/json', ...types])]);
  return text === '' ? undefined : parseJson(text);
}

/** The form fields of a request, in the order of the request. Throws as `readText` does, and 415 also for an empty body (D-171). */
export async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
  const { type, text } = await readText(req, [FORM_TYPE]);
  if (type !== FORM_TYPE) throw unsupportedType([FORM_TYPE]);
  return new URLSearchParams(text);
}

/** Shared by all requests without a query. */
const NO_PARAMETERS = new URLSearchParams();

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
