import type { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';

/** What the gateway will send: everything but the header lines that each of its answers has. */
export interface Answer {
  status: number;
  /** Header lines, names and values alternating; without Content-Length. */
  headers: readonly string[];
  /** Empty: no body. */
  body: string | Uint8Array;
  /** The invocation that it came of. */
  executionId?: Uuid;
}

/** A JSON answer. */
export function jsonAnswer(status: number, value: object, headers: readonly string[] = []): Answer {
  return { status, headers: ['Content-Type', 'application/json', ...headers], body: JSON.stringify(value) };
}

/** The answer that an error is (D-160, D-180). */
export function errorAnswer(error: PlatformError): Answer {
  return jsonAnswer(error.status, error.body(), Object.entries(error.headers).flat());
}

/** Is there a header line of that name? Names and values alternate; letter case does not matter. */
export function hasHeader(lines: readonly string[], name: string): boolean {
  const wanted = name.toLowerCase();
  for (let at = 0; at < lines.length; at += 2) {
    const line = lines[at];
    if (line?.length === wanted.length && line.toLowerCase() === wanted) return true;
  }
  return false;
}
