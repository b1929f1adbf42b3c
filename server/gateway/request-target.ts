import { PlatformError } from '../model/errors.ts';

/** The parts of a request target that routing needs. */
export interface RequestTarget {
  /** Host of an absolute-form target (`GET http://host/path`), which wins over the Host header (RFC 9112, 3.2.2). */
  authority: string | undefined;
  /** As sent, percent-encoding and doubled slashes included; starts with `/`. */
  path: string;
  /** As sent, without the question mark. */
  query: string;
  /** Decoded path segments, empty ones dropped: an encoded slash stays inside its segment. */
  segments: readonly string[];
}

const ABSOLUTE = /^https?:\/\/([^/?#@]+)(.*)$/i;

/**
 * Takes a request target apart. Throws 414 above the limit; 400 for a target that is no path, a bad percent-encoding, a
 * NUL, and `.` or `..` segments in any spelling, which clients resolve before they send and which would step out of the
 * prefix that an endpoint publishes.
 */
export function parseTarget(target: string, maxBytes: number): RequestTarget {
  if (target.length > maxBytes) {
    throw new PlatformError(414, `the request target has ${target.length} bytes; at most ${maxBytes} are read`);
  }
  const absolute = target.startsWith('/') ? null : ABSOLUTE.exec(target);
  const origin = absolute ? (absolute[2] ?? '') : target;
  const mark = origin.indexOf('?');
  const path = (mark < 0 ? origin : origin.slice(0, mark)) || (absolute ? '/' : '');
  if (!path.startsWith('/')) throw new PlatformError(400, 'the request target must be a path that starts with /');
  return {
    authority: absolute?.[1],
    path,
    query: mark < 0 ? '' : origin.slice(mark + 1),
    segments: segmentsOf(path),
  };
}

function segmentsOf(path: string): string[] {
  const segments = path.includes('%') ? path.split('/').map(decodeSegment) : path.split('/');
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    throw new PlatformError(400, "the path has a '.' or '..' segment; resolve it before sending");
  }
  return segments.filter((segment) => segment !== '');
}

function decodeSegment(segment: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch (cause) {
    throw new PlatformError(400, `the path has an invalid percent-encoding in '${segment.slice(0, 64)}'`, { cause });
  }
  if (decoded.includes('\0')) throw new PlatformError(400, 'the path has a NUL character');
  return decoded;
}

/**
 * The path as sent after its first `count` segments (D-153): empty or starting with `/`. A lone trailing slash has no
 * meaning (D-151) and counts as empty, unless nothing is stripped.
 */
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

/** The query as `context.params` (D-136): every value an array of strings; a bad percent-encoding is taken literally. */
export function queryParams(query: string): Record<string, string[]> {
  // No prototype, so that a parameter named __proto__ is a member like any other.
  const params: Record<string, string[]> = Object.create(null);
  if (query === '') return params;
  for (const [name, value] of new URLSearchParams(query)) {
    const values = params[name];
    if (values) values.push(value);
    else params[name] = [value];
  }
  return params;
}
