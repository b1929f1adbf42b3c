import type { IncomingMessage } from 'node:http';
import express from 'express';
import { parse as parseSafely } from 'secure-json-parse';
import { FORM_TYPE } from '../contract/row.ts';
import { PlatformError } from '../model/errors.ts';
import type { Json } from '../model/json.ts';
import { MAX_JSON_DEPTH } from '../model/json-bounds.ts';
import { reasonOf } from '../model/reason.ts';

/** The setting of an express app that says how large a request body may be, in bytes (D-007, D-185). */
export const BODY_LIMIT_SETTING = 'request body bytes';

const DEFAULT_BODY_LIMIT_BYTES = 10 * 1024 * 1024;

/** The whole body, empty when there is none. */
async function readBytes(req: IncomingMessage): Promise<Buffer> {
  // What would grow when it is unpacked stays out (D-182).
  if (!/^(identity)?$/i.test(req.headers['content-encoding'] ?? '')) throw encodedBody();
  const request = req as express.Request; // every request of the control plane comes through express
  const limit = Number(request.app.get(BODY_LIMIT_SETTING) ?? DEFAULT_BODY_LIMIT_BYTES);
  await new Promise<void>((resolve, reject) => {
    // The middleware uses nothing of the response.
    express.raw({ type: () => true, limit })(request, {} as express.Response, (failure?: unknown) =>
      failure ? reject(readFailure(failure, limit)) : resolve(),
    );
  });
  const body: unknown = request.body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

function readFailure(failure: unknown, limit: number): PlatformError {
  const status = failure instanceof Error && 'status' in failure ? failure.status : 400;
  if (status === 413) return new PlatformError(413, `the request body is over ${limit} bytes`);
  return new PlatformError(400, 'the request body could not be read', { cause: failure });
}

function encodedBody(): PlatformError {
  return new PlatformError(415, 'send the body as it is, without a Content-Encoding');
}

function mediaTypeOf(req: IncomingMessage): string {
  return (req.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new PlatformError(400, 'the request body is not valid UTF-8', { cause });
  }
}

/** Nesting depth of a JSON text, without parsing it. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      while (++at < text.length && text.charCodeAt(at) !== 0x22) if (text.charCodeAt(at) === 0x5c) at++;
    } else if (char === 0x5b || char === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (char === 0x5d || char === 0x7d) depth--;
  }
  return deepest;
}

/** Parses JSON text from outside; throws 400 for what is malformed, too deep, or reaches for a prototype. */
export function parseJson(text: string): Json {
  if (depthOf(text) > MAX_JSON_DEPTH)
    throw new PlatformError(400, `JSON is nested deeper than ${MAX_JSON_DEPTH} levels`);
  try {
    return parseSafely(text, undefined, { protoAction: 'error', constructorAction: 'error' }) as Json; // parse() is typed any
  } catch (cause) {
    const reason = reasonOf(cause);
    throw new PlatformError(400, `malformed JSON: ${reason.slice(0, 200)}`, { cause });
  }
}

/**
 * The body of a request as text, empty when there is none, and its media type in lower case. Throws 415 for a non-empty
 * body of a type that is not wanted, 413 above the limit, 400 for what is not UTF-8.
 */
export async function readText(
  req: IncomingMessage,
  wanted: readonly string[],
): Promise<{ type: string; text: string }> {
  const bytes = await readBytes(req);
  const type = mediaTypeOf(req);
  if (bytes.length > 0 && !wanted.includes(type)) {
    throw new PlatformError(415, `send the body as ${wanted.join(' or ')} (set the Content-Type header)`);
  }
  return { type, text: textOf(bytes) };
}

/**
 * The JSON body of a request, undefined when it is empty (D-007). Throws 415 for a non-empty body of another media type,
 * 413 above the limit, 400 for anything that is not JSON.
 *
 * @param options.types media types besides `application/json`
 */
export async function readJson(
  req: IncomingMessage,
  options: { types?: readonly string[] } = {},
): Promise<Json | undefined> {
  const { text } = await readText(req, [...new Set(['application/json', ...(options.types ?? [])])]);
  return text === '' ? undefined : parseJson(text);
}

/** The form fields of a request, in order. Throws 415 unless it is `application/x-www-form-urlencoded` (D-171). */
export async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
  const bytes = await readBytes(req);
  if (mediaTypeOf(req) !== FORM_TYPE)
    throw new PlatformError(415, `send the fields as ${FORM_TYPE} (set the Content-Type header)`);
  return new URLSearchParams(textOf(bytes));
}
