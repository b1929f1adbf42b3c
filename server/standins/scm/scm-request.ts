import type { Request } from 'express';
import { invalidValue, ScmError } from './scm-error.ts';

/** A member of the body, or else of the query, as text; undefined when it is absent. */
export function text(req: Request, name: string): string | undefined {
  const sent = Object(req.body)[name] ?? req.query[name];
  if (sent === undefined || sent === null) return undefined;
  if (typeof sent !== 'string' && typeof sent !== 'number' && typeof sent !== 'boolean') throw invalidValue(name);
  return String(sent);
}

/** The same as a member of its own name. */
export function optional<N extends string>(req: Request, name: N): { [K in N]?: string } {
  const sent = text(req, name);
  // As: the one member is the one that was named.
  return (sent === undefined ? {} : { [name]: sent }) as { [K in N]?: string };
}

/** A yes or no, in any way that the real server takes one. */
export function flag(req: Request, name: string): boolean | undefined {
  const sent = text(req, name)?.toLowerCase();
  if (sent === undefined || sent === '') return undefined;
  if (['true', 't', '1', 'on', 'yes', 'y'].includes(sent)) return true;
  if (['false', 'f', '0', 'off', 'no', 'n'].includes(sent)) return false;
  throw new ScmError(400, { error: `${name} is invalid` });
}

export function queryText(req: Request, name: string): string | undefined {
  const { [name]: sent } = req.query;
  if (sent === undefined || typeof sent === 'string') return sent;
  throw invalidValue(name);
}
