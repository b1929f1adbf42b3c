import type { IncomingMessage, ServerResponse } from 'node:http';
import { readWholeBody, refuseLargeBody } from '../api/server/whole-body.ts';
import { PlatformError } from '../model/errors.ts';

export interface RequestTarget {
  /** Host of an absolute-form target (`GET http://host/path`), which takes precedence over the Host header (RFC 9112, 3.2.2). */
  authority: string | undefined;
  /** As sent, including percent-encoding and double slashes; starts with `/`. */
  path: string;
  query: string;
  /** Decoded path segments without empty ones: an encoded slash stays inside its segment. */
  segments: readonly string[];
}

const ABSOLUTE = /^https?:\/\/([^/?#@]+)(.*)$/i;

/** Throws 414 above the limit, and 400 for invalid percent-encoding, a NUL, and `.` or `..` segments, which could leave an endpoint's prefix. */
export function parseTarget(target: string, maxBytes: number): RequestTarget {
  if (target.length > maxBytes) {
    throw new PlatformError(
      'url_too_long',
      `the request target has ${target.length} bytes; the limit is ${maxBytes} bytes`,
    );
  }
  const absolute = target.startsWith('/') ? null : ABSOLUTE.exec(target);
  const origin = absolute ? (absolute[2] ?? '') : target;
  const mark = origin.indexOf('?');
  const path = (mark < 0 ? origin : origin.slice(0, mark)) || (absolute ? '/' : '');
  if (!path.startsWith('/'))
    throw new PlatformError('invalid_url', 'the request target must be a path that starts with /');
  return { authority: absolute?.[1], path, query: mark < 0 ? '' : origin.slice(mark + 1), segments: segmentsOf(path) };
}

function segmentsOf(path: string): string[] {
  const segments = path.includes('%') ? path.split('/').map(decodeSegment) : path.split('/');
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    throw new PlatformError('invalid_url', "the path has a '.' or '..' segment. Resolve it before sending.");
  }
  return segments.filter((segment) => segment !== '');
}

function decodeSegment(segment: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch (cause) {
    throw new PlatformError('invalid_url', `the path has an invalid percent-encoding in '${segment.slice(0, 64)}'`, {
      cause,
    });
  }
  if (decoded.includes('\0')) throw new PlatformError('invalid_url', 'the path contains a NUL character');
  return decoded;
}

/** The target with encoded slashes as slashes; undefined if it has none. Throws 400 for `.` and `..` segments that appear. */
export function withSlashesDecoded(target: RequestTarget): RequestTarget | undefined {
  const path = target.path.replace(/%2f/gi, '/');
  return path === target.path ? undefined : { ...target, path, segments: segmentsOf(path) };
}

/** The path as sent after `count` segments (D-153): empty or starting with `/`. A single trailing slash counts as empty, except at 0. */
export function restAfter(path: string, count: number): string {
  if (count === 0) return path;
  let at = 0;
  for (let passed = 0; passed < count; passed++) {
    while (path[at] === '/') at++;
    const end = path.indexOf('/', at);
    at = end < 0 ? path.length : end;
  }
  const rest = path.slice(at);
  return /^\/+$/.test(rest) ? '' : rest;
}

/** The query as `context.params` (D-136): all values are arrays of strings; invalid percent-encoding is taken literally. */
export function queryParams(query: string): Record<string, string[]> {
  // No prototype, so that a parameter named __proto__ is a normal member.
  const params: Record<string, string[]> = Object.create(null);
  if (query === '') return params;
  for (const [name, value] of new URLSearchParams(query)) {
    const values = params[name];
    if (values) values.push(value);
    else params[name] = [value];
  }
  return params;
}

const NO_BODY = new Uint8Array(0);

export function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || (request.headers['content-length'] ?? '0') !== '0';
}

/** Sends 100, once, to a client that waits for it before it sends the body (`Expect: 100-continue`). */
export function continueBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue();
  delete request.headers.expect;
}

/** The whole request body; see readWholeBody. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<Uint8Array> {
  if (!hasBody(request)) return NO_BODY;
  refuseLargeBody(request, maxBytes);
  continueBody(request, response);
  return readWholeBody(request, maxBytes);
}
