import express, { type Request, type Response, type Router } from 'express';
import type { Parameter } from '../contract/parameter.ts';
import type { Permission } from '../contract/right.ts';
import type { AnswerOf, BodyOf, PathOf, QueryOf, Row, Rows } from '../contract/row.ts';
import type { Caller, Judge } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import { parseUuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import { demandRight } from '../model/rights.ts';
import type { TypeWord } from '../model/type-words.ts';
import { parseWith } from '../model/validate.ts';
import type { WorldView } from '../model/world-view.ts';
import { queryOf, singleParameter } from './query.ts';
import { readJson } from './read-body.ts';

/** Who asks, and what they may. */
export interface Gate {
  view: WorldView;
  judge: Judge;
  /** Throws 401. @param takes the one way to authenticate that is good enough */
  callerOf(req: Request, takes?: 'bearer' | 'basic'): Caller;
}

/** A request to a row, read as the row says it is. */
export interface Asked<R extends Omit<Row, 'tag'>> {
  caller: R['right'] extends 'none' ? undefined : Caller;
  /** What the row's target names. */
  resource: R extends { target: object } ? StoredResource : undefined;
  path: PathOf<R>;
  query: QueryOf<R>;
  body: BodyOf<R>;
  req: Request;
  res: Response;
}

/** Does what the row says and gives back the body of its answer. */
export type Handler<R extends Omit<Row, 'tag'>> = (asked: Asked<R>) => AnswerOf<R> | Promise<AnswerOf<R>>;
export type Handlers<Table extends Rows> = { readonly [Id in keyof Table]: Handler<Table[Id]> };

/** Finds the resource that a parameter of a path stands for where that is no resource's id; throws 404. */
export type Finders = Readonly<Record<string, (text: string) => StoredResource>>;

/**
 * The routes of a table below the first segment of their paths. Of each request the caller is known first, then what the path
 * names is found, the right is checked, and query and body are read; only then its handler is asked.
 */
export function serve<Table extends Rows>(
  table: Table,
  gate: Gate,
  handlers: Handlers<Table>,
  finders: Finders = {},
): Router {
  const router = express.Router({ caseSensitive: true });
  for (const [id, row] of Object.entries(table)) {
    const [verb, path] = addressOf(row);
    // As: a table has the handlers of its own rows, which take what is read by them.
    const handle = handlers[id] as (asked: object) => unknown;
    router[verb](path, async (req, res) => {
      const [takes, ...others] = row.security ?? [];
      const caller = row.right === 'none' ? undefined : gate.callerOf(req, others.length > 0 ? undefined : takes);
      const resource = caller && admit(row, caller, req, { ...gate, finders });
      const query = readQuery(row, queryOf(req));
      const body = await readBody(row, req);
      const answer = await handle({ caller, resource, path: req.params, query, body, req, res });
      if (!row.answer || row.answer.mediaTypes) return;
      if (row.isPrivate) res.set('Cache-Control', 'no-store');
      res.status(row.answer.status);
      if (row.answer.schema) res.json(answer);
      else res.end();
    });
  }
  return router;
}

/** `['get', '/leads/:lead_id']` for `get /inspect/leads/{lead_id}`. */
function addressOf({ route }: Row): [verb: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string] {
  const [verb, path = ''] = route.split(' ');
  // As: the type of a route says what its first word is.
  return [verb as 'get', path.replace(/^\/[^/]+/, '').replace(/\{(\w+)\}/g, ':$1')];
}

/** Throws 400, 404 for what the path names, and 403 for whoever has not the right. */
function admit(
  { right, target }: Row,
  caller: Caller,
  req: Request,
  gate: Gate & { finders: Finders },
): StoredResource | undefined {
  const permissions: readonly Permission[] = typeof right === 'string' ? [] : right;
  if (right === 'root') demandRoot(caller);
  for (const { action, on } of permissions) {
    const find = on === target?.id ? undefined : on === 'root' ? () => gate.view.root : gate.finders[on];
    if (find) demandRight(gate.judge, { caller, action, resource: find(String(req.params[on])) });
  }
  if (!target) return undefined;
  const find = gate.finders[target.id] ?? ((text: string) => targetOf(gate, text, target.of));
  const resource = find(String(req.params[target.id]));
  for (const { action, on, isNotOfOwn } of permissions) {
    if (on === target.id && !(isNotOfOwn && resource.id === caller.userId))
      demandRight(gate.judge, { caller, action: action.replace('*', typeOf(resource).noun), resource });
  }
  return resource;
}

/** Throws 403 for everybody else. */
export function demandRoot({ isRoot }: Caller): void {
  if (!isRoot) throw new PlatformError(403, 'only the root user may do this; sign in as root');
}

/** The resource of one of the types, or of any when none is named, with that id. Throws 400, 404. */
export function targetOf({ view }: Pick<Gate, 'view'>, text: string, of: readonly TypeWord[]): StoredResource {
  const id = parseUuid(text);
  const resource = view.find(id);
  if (resource && (of.length === 0 || of.includes(typeOf(resource).word))) return resource;
  throw new PlatformError(404, `${of.length === 0 ? 'resource' : of.join(' or ')} ${id} not found`);
}

/** The parameters that the row knows. Throws 400 for one that is repeated, is not what it has to be, or is not known. */
function readQuery({ query: known = {}, isStrict }: Row, query: URLSearchParams): Record<string, unknown> {
  for (const name of isStrict ? query.keys() : []) {
    if (Object.hasOwn(known, name)) continue;
    const names = Object.keys(known).join(', ');
    const choice = names === '' ? 'there are none here' : `known are ${names}`;
    throw new PlatformError(400, `unknown query parameter '${name.slice(0, 64)}'; ${choice}`);
  }
  return Object.fromEntries(
    Object.entries(known).map(([name, parameter]) => [name, readParameter(name, parameter, query)]),
  );
}

function readParameter(name: string, { schema, isRequired }: Parameter, query: URLSearchParams): unknown {
  const sent = singleParameter(query, name);
  if (isRequired && sent === undefined) throw new PlatformError(400, `query parameter '${name}' is required`);
  const { success, data, error } = schema.safeParse(sent);
  if (success) return data;
  const expected = error.issues[0]?.message;
  throw new PlatformError(400, `query parameter '${name}' must be ${expected}, not '${sent?.slice(0, 64)}'`);
}

async function readBody({ body }: Row, req: Request): Promise<unknown> {
  if (body?.form !== 'json') return undefined;
  const sent = await readJson(req, { types: body.mediaTypes });
  return parseWith(body.schema, body.isOptional ? (sent ?? {}) : sent);
}
