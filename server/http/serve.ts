import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import type { Parameter } from '../contract/parameter.ts';
import type { Permission } from '../contract/right.ts';
import {
  type AnswerOf,
  type BodyOf,
  namesIn,
  type PathOf,
  type QueryOf,
  type Row,
  type Rows,
} from '../contract/row.ts';
import type { Caller, Judge } from '../model/caller.ts';
import { PlatformError, rootOnly } from '../model/errors.ts';
import { parseUuid } from '../model/ids.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf, typeOfWord } from '../model/registry.ts';
import { demandRight } from '../model/rights.ts';
import { isTypeWord, type TypeWord } from '../model/type-words.ts';
import type { WorldView } from '../model/world-view.ts';
import { JsonText } from './json-text.ts';
import { queryOf, singleParameter } from './query.ts';
import { readForm, readJson } from './read-body.ts';

/** The parts of a path that have names, decoded. */
type Path = Readonly<Record<string, string>>;

/** Who asks, and what they may. */
export interface Gate<Given extends object = object> {
  view: WorldView;
  judge: Judge;
  /** Throws 401. @param takes the one way to authenticate that is good enough */
  callerOf(req: Request, takes?: 'bearer' | 'basic'): Caller;
  /** Can this be a path of the row at all? Asked before the caller is known; if not, it may be one of another (D-010). */
  isMeant?(path: Path): boolean;
  /** Throws 400 for a path that is nothing whatever there is (D-003). */
  demandPath?(path: Path): void;
  /** Parameters that every row understands besides those that it tells of. */
  query?: Readonly<Record<string, Parameter>>;
  /** What handlers are given besides. @param asked.common the parameters that every row understands, read */
  give?(asked: { caller: Caller; common: Readonly<Record<string, unknown>>; req: Request }): Given;
}

/** What a part of a path can stand for: a resource, what belongs to one, or a word. */
type Findable = StoredResource | { readonly resource: StoredResource } | string;

/**
 * Finds what the parts of paths stand for, by their names; throws 404, and 400 for what is no id. Undefined: the request is for the
 * next row of the same address.
 */
export type Finders = Readonly<Record<string, (text: string, path: Path, req: Request) => Findable | undefined>>;

/** What of a row's path was found. */
type FoundOf<R extends Omit<Row, 'tag'>, F extends Finders> = {
  readonly [Name in Extract<keyof PathOf<R>, keyof F>]: NonNullable<ReturnType<F[Name]>>;
};

/** A request to a row, read as the row says it is. */
export interface Asked<R extends Omit<Row, 'tag'>, F extends Finders = Record<never, never>> {
  caller: R['right'] extends 'none' ? undefined : Caller;
  /** What the row's target names. */
  resource: R extends { target: object } ? StoredResource : undefined;
  /** What the parts of the path stand for that there are finders for. */
  found: FoundOf<R, F>;
  path: PathOf<R>;
  query: QueryOf<R>;
  body: BodyOf<R>;
  req: Request;
  res: Response;
}

/** Does what the row says and gives back the body of its answer. */
export type Handler<
  R extends Omit<Row, 'tag'>,
  F extends Finders = Record<never, never>,
  Given extends object = object,
> = (
  asked: Asked<R, F> & (R['right'] extends 'none' ? object : Given),
) => AnswerOf<R> | JsonText | Promise<AnswerOf<R> | JsonText>;

export type Handlers<Table extends Rows, F extends Finders = Record<never, never>, Given extends object = object> = {
  readonly [Id in keyof Table]: Handler<Table[Id], F, Given>;
};

/** A row, and what answers its requests. */
export interface Served {
  row: Row;
  handle: RequestHandler;
}

/** The routes of a table below the first segment of their paths. */
export function serve<Table extends Rows, F extends Finders = Record<never, never>, Given extends object = object>(
  table: Table,
  gate: Gate<Given>,
  handlers: Handlers<Table, F, Given>,
  finders?: F,
): Router {
  return routerOf(served(table, gate, handlers, finders));
}

/** For whoever looks at what is served: routers by the number of segments of their paths. */
export interface RoutersByLength {
  byLength(): ReadonlyMap<number, Router>;
}

/** The routes of several tables. Where more than one is of the same address the one that says more of it is asked first, then the earlier one. */
export function routerOf(...tables: readonly (readonly Served[])[]): Router & RoutersByLength {
  const byLength = new LazyRouters<number>();
  /** Those that a request can be meant for. */
  const byVerb = new LazyRouters<string>();
  for (const one of tables.flat()) {
    const address = addressOf(one.row);
    const [verb, path] = address;
    const length = lengthOf(path);
    byLength.add(length, address, one);
    byVerb.add(`${verb} ${length}`, address, one);
  }
  const chosen = express.Router().use((req, res, next) => {
    const { method, path } = req;
    const length = lengthOf(path);
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
    // What is no text when it is decoded is no address, whatever the verb; express tells so where it compares.
    const router = path.includes('%') ? byLength.get(length) : byVerb.get(`${verb} ${length}`);
    if (router) router(req, res, next);
    else next();
  });
  return Object.assign(chosen, { byLength: () => byLength.all() });
}

/**
 * Routers by what a request has to have for them, so that it is compared with few paths. Each is made when it is first asked for: to
 * read the paths of all is a twentieth of a start, which needs next to none of them.
 */
class LazyRouters<Key> {
  readonly #served = new Map<Key, { address: Address; served: Served }[]>();
  readonly #made = new Map<Key, Router>();

  add(key: Key, address: Address, served: Served): void {
    const others = this.#served.get(key);
    if (others) others.push({ address, served });
    else this.#served.set(key, [{ address, served }]);
  }

  get(key: Key): Router | undefined {
    return this.#made.get(key) ?? this.#make(key);
  }

  all(): Map<Key, Router> {
    for (const key of this.#served.keys()) this.get(key);
    return this.#made;
  }

  #make(key: Key): Router | undefined {
    const served = this.#served.get(key);
    if (!served) return undefined;
    const router = express.Router({ caseSensitive: true });
    served.sort((a, b) => bySegments(a.served.row, b.served.row));
    for (const one of served) {
      const [verb, path] = one.address;
      router[verb](path, one.served.handle);
    }
    this.#made.set(key, router);
    return router;
  }
}

/** Where `locals` of a response say who was found out to make the request. */
export const CALLER_ID = 'callerId';

/** Segments of a path; a slash at its end counts for nothing, as in routes. */
function lengthOf(path: string): number {
  return path.split('/').length - (path.endsWith('/') ? 1 : 0);
}

/**
 * What answers the requests to the rows of a table. Of each request the caller is known first, then what the path names is found, the
 * right is checked, and query and body are read; only then its handler is asked. Throws for a row without a handler.
 */
export function served<Table extends Rows, F extends Finders = Record<never, never>, Given extends object = object>(
  table: Table,
  gate: Gate<Given>,
  handlers: Handlers<Table, F, Given>,
  finders?: F,
): Served[] {
  return Object.entries(table).map(([id, row]) => {
    // As: a table has the handlers of its own rows, which take what is read by them.
    const handle = handlers[id] as ((asked: object) => unknown) | undefined;
    if (!handle) throw new Error(`nothing answers the row ${id}`);
    return { row, handle: answering(row, gate, handle, finders ?? {}) };
  });
}

function answering(row: Row, gate: Gate, handle: (asked: object) => unknown, finders: Finders): RequestHandler {
  const names = namesIn(row.route).filter((name) => Object.hasOwn(finders, name));
  const [takes, ...others] = row.security ?? [];
  const only = Object.entries(row.only ?? {});
  const [readOwn, readCommon] = [queryReader(row), queryReader(gate)];
  return async (req, res, next) => {
    const path = req.params as Path; // no row has a wildcard, whose value would be an array
    if (gate.isMeant?.(path) === false || only.some(([name, words]) => !words.includes(path[name] ?? '')))
      return next();
    const sent = queryOf(req);
    if (row.when !== undefined && !sent.has(row.when)) return next();
    if (row.isPrivate) res.set('Cache-Control', 'no-store');
    const caller = row.right === 'none' ? undefined : gate.callerOf(req, others.length > 0 ? undefined : takes);
    gate.demandPath?.(path);
    const found: Record<string, Findable> = {};
    for (const name of names) {
      const one = finders[name]?.(path[name] ?? '', path, req);
      if (one === undefined) return next();
      found[name] = one;
    }
    const resource = caller && admit(row, { caller, path, found }, gate);
    if (caller) res.locals[CALLER_ID] = caller.userId;
    const query = readOwn(sent);
    const common = readCommon(sent);
    const body = row.body && (await readBody(row.body, req));
    const given = caller && gate.give?.({ caller, common, req });
    const handled = handle({ caller, resource, found, path, query, body, req, res, ...given });
    const answer = handled instanceof Promise ? await handled : handled;
    if (!row.answer || row.answer.mediaTypes) return;
    // Unless the handler has set another one.
    if (res.statusCode === 200) res.status(row.answer.status);
    if (answer instanceof JsonText) res.type('json').send(answer.bytes);
    else if (row.answer.schema) res.json(answer);
    else res.end();
  };
}

type Address = [verb: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string];

/** `['get', '/leads/:lead_id']` for `get /inspect/leads/{lead_id}`. */
function addressOf({ route }: Row): Address {
  const [verb, path = ''] = route.split(' ');
  // As: the type of a route says what its first word is.
  return [verb as 'get', path.replace(/^\/[^/]+/, '').replace(/\{(\w+)\}/g, ':$1')];
}

/** Puts paths that leave less open before others of as many segments, and what takes a parameter before what does not. */
function bySegments(a: Row, b: Row): number {
  const [mine, its] = [opennessOf(a), opennessOf(b)];
  return mine.length - its.length || (mine < its ? -1 : Number(mine > its));
}

/** A letter for each segment, those of what is open last in the alphabet. */
function opennessOf({ route, when }: Row): string {
  const letters = route.split('/').map((segment) => (segment.startsWith('{') ? 'o' : 'l'));
  return [...letters, when === undefined ? 'o' : 'l'].join('');
}

/** Throws 403 for whoever has not the right, and 400 and 404 for what the path names. */
function admit(
  { right, failsAs, target }: Row,
  { caller, path, found }: { caller: Caller; path: Path; found: Readonly<Record<string, Findable>> },
  { view, judge }: Gate,
): StoredResource | undefined {
  const permissions: readonly Permission[] = typeof right === 'string' ? [] : right;
  if (right === 'root') demandRoot(caller, failsAs);
  const resourceAt = (name: string): StoredResource | undefined => {
    const one = name === 'root' ? view.root : found[name];
    if (typeof one !== 'object') return undefined;
    return 'resource' in one ? one.resource : one;
  };
  const demand = ({ action, isNotOfOwn }: Permission, resource: StoredResource) => {
    if (isNotOfOwn && resource.id === caller.userId) return;
    demandRight(judge, { caller, action: actionOf(action, path, resource), resource });
  };
  // What else a route names is what its own right is asked for.
  for (const one of permissions) {
    const resource = one.on === target?.id ? undefined : resourceAt(one.on);
    if (resource) demand(one, resource);
  }
  if (!target) return undefined;
  const resource = resourceAt(target.id) ?? targetOf({ view }, String(path[target.id]), target.of);
  for (const one of permissions) if (one.on === target.id) demand(one, resource);
  return resource;
}

/** `lambda.create` for `{new_word}.create` where that word is `lambdas`, `lambda.view` for `*.view` of a lambda. */
function actionOf(action: string, path: Path, resource: StoredResource): string {
  const noun = (name: string) => {
    const word = path[name] ?? '';
    return isTypeWord(word) ? typeOfWord(word).noun : word;
  };
  return action.replace('*', () => typeOf(resource).noun).replace(/\{(\w+)\}/, (_, name: string) => noun(name));
}

/** Throws 403 for everybody else. @param failsAs as in `Row` */
export function demandRoot({ isRoot }: Caller, failsAs?: string): void {
  if (isRoot) return;
  throw failsAs === undefined
    ? new PlatformError(403, 'only the root user may do this; sign in as root')
    : rootOnly(failsAs);
}

/** The resource of one of the types, or of any when none is named, with that id. Throws 400, 404. */
export function targetOf({ view }: Pick<Gate, 'view'>, text: string, of: readonly TypeWord[]): StoredResource {
  const id = parseUuid(text);
  const resource = view.find(id);
  if (resource && (of.length === 0 || of.includes(typeOf(resource).word))) return resource;
  throw new PlatformError(404, `${of.length === 0 ? 'resource' : of.join(' or ')} ${id} not found`);
}

/**
 * Reads the parameters that the row knows. Throws 400 for one that is repeated, is not what it has to be, or is not known. What a
 * request without any means is always the same, and read once.
 */
function queryReader({ query: known = {}, isStrict }: Pick<Row, 'query' | 'isStrict'>) {
  const parameters = Object.entries(known);
  const read = (query: URLSearchParams): Readonly<Record<string, unknown>> => {
    for (const name of isStrict ? query.keys() : []) {
      if (Object.hasOwn(known, name)) continue;
      const names = Object.keys(known).join(', ');
      const choice = names === '' ? 'there are none here' : `known are ${names}`;
      throw new PlatformError(400, `unknown query parameter '${name.slice(0, 64)}'; ${choice}`);
    }
    return Object.fromEntries(
      parameters.map(([name, parameter]) => [name, readParameter(name, parameter, query, known)]),
    );
  };
  let ofNone: Readonly<Record<string, unknown>> | undefined;
  return (query: URLSearchParams) => {
    if (query.size > 0) return read(query);
    ofNone ??= Object.freeze(read(query));
    return ofNone;
  };
}

function readParameter(
  name: string,
  { schema, isRequired, takes }: Parameter,
  query: URLSearchParams,
  known: object,
): unknown {
  if (isRequired && !query.has(name)) throw new PlatformError(400, `query parameter '${name}' is required`);
  if (typeof takes === 'function') {
    const names = [...query.keys()].filter((one) => takes(one) && !(Object.hasOwn(known, one) && one !== name));
    return Object.fromEntries(names.map((one) => [one, singleParameter(query, one)]));
  }
  const sent = takes === 'all' ? query.getAll(name) : singleParameter(query, name);
  const { success, data, error } = schema.safeParse(sent);
  if (success) return data;
  const [issue] = error.issues;
  const wrong = Array.isArray(sent) ? sent[Number(issue?.path[0] ?? 0)] : sent;
  throw new PlatformError(400, `query parameter '${name}' must be ${issue?.message}, not '${wrong?.slice(0, 64)}'`);
}

async function readBody(body: NonNullable<Row['body']>, req: Request): Promise<unknown> {
  if (body.readForm) return body.readForm(await readForm(req));
  return body.read?.(await readJson(req, { types: body.mediaTypes }));
}
