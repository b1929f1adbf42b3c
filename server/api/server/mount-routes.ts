import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import type { Authorizer, Caller } from '../../model/caller.ts';
import { forbidden, PlatformError } from '../../model/errors.ts';
import { parseUuid, type StoredResource, type WorldView } from '../../model/record.ts';
import { typeOf, typeOfWord } from '../../model/registry.ts';
import { requireRightTo } from '../../model/rules/actions.ts';
import { describeKind } from '../../model/rules/references.ts';
import { isTypeWord, type TypeWord } from '../../model/type-words.ts';
import type { Parameter } from '../routes/parameter.ts';
import {
  type AnswerOf,
  type BodyOf,
  namesIn,
  type PathOf,
  type Permission,
  type QueryOf,
  type Route,
  type Routes,
} from '../routes/route.ts';
import { queryOf, readForm, readJson, singleParameter } from './read-body.ts';

type Path = Readonly<Record<string, string>>;

export interface RouteGuard<Given extends object = object> {
  view: WorldView;
  authorizer: Authorizer;
  /** Throws 401. @param acceptedScheme the only accepted way to authenticate */
  callerOf(req: Request, acceptedScheme?: 'bearer' | 'basic'): Caller;
  /** `{base_url}` as this client sees it: handlers set `Location` to a path, and the response has the address. */
  baseUrlFor?(req: Request): string;
  /** Can the path belong to the route? Checked before the caller; if not, the next route is tried (D-010). */
  matches?(path: Path): boolean;
  /** Throws 400 for a path that is always invalid (D-003). */
  requirePath?(path: Path): void;
  /** Parameters that every route accepts besides its declared ones. */
  query?: Readonly<Record<string, Parameter>>;
  /** Additional input of handlers. @param input.common the parsed parameters that every route accepts */
  extendInput?(input: { caller: Caller; common: Readonly<Record<string, unknown>>; req: Request }): Given;
}

/** The target of a path segment: a resource, a part of a resource, or a word. */
type Findable = StoredResource | { readonly resource: StoredResource } | string;

/** Resolve path parameters by name. Throw 404, or 400 for an invalid id; with undefined, the next route of the address is tried. */
export type ParamResolvers = Readonly<Record<string, (text: string, path: Path, req: Request) => Findable | undefined>>;

type FoundOf<R extends Omit<Route, 'tag'>, F extends ParamResolvers> = {
  readonly [Name in Extract<keyof PathOf<R>, keyof F>]: NonNullable<ReturnType<F[Name]>>;
};

export interface HandlerInput<R extends Omit<Route, 'tag'>, F extends ParamResolvers = Record<never, never>> {
  caller: R['permission'] extends 'none' ? undefined : Caller;
  resource: R extends { target: object } ? StoredResource : undefined;
  found: FoundOf<R, F>;
  path: PathOf<R>;
  query: QueryOf<R>;
  body: BodyOf<R>;
  /** For long responses: throws what this request would get now, because its caller or the permission has ended. */
  requireAccess(): void;
  req: Request;
  res: Response;
}

export type Handler<
  R extends Omit<Route, 'tag'>,
  F extends ParamResolvers = Record<never, never>,
  Given extends object = object,
> = (
  input: HandlerInput<R, F> & (R['permission'] extends 'none' ? object : Given),
) => AnswerOf<R> | JsonText | Promise<AnswerOf<R> | JsonText>;

export type Handlers<
  Table extends Routes,
  F extends ParamResolvers = Record<never, never>,
  Given extends object = object,
> = {
  readonly [Id in keyof Table]: Handler<Table[Id], F, Given>;
};

export interface MountedRoute {
  row: Route;
  handle: RequestHandler;
}

export function mountRoutes<
  Table extends Routes,
  F extends ParamResolvers = Record<never, never>,
  Given extends object = object,
>(table: Table, guard: RouteGuard<Given>, handlers: Handlers<Table, F, Given>, resolvers?: F): Router {
  return routerOf(mountedRoutes(table, guard, handlers, resolvers));
}

/** Mounts the routes of several tables. Of routes with the same address, the more specific one is tried first, then the earlier one. */
export function routerOf(...tables: readonly (readonly MountedRoute[])[]): Router {
  const all = tables.flat();
  const ordered = all
    .map((mounted) => ({ ...mounted, address: addressOf(mounted.row), openness: opennessOf(mounted.row) }))
    .toSorted((a, b) => a.openness - b.openness);
  const routersByLength = new Map<number, Router>();
  // So that few paths are compared. Created on first use: compiling all paths takes a twentieth of the startup time.
  const routerFor = (length: number): Router | undefined => {
    const knownRouter = routersByLength.get(length);
    if (knownRouter) return knownRouter;
    const some = ordered.filter(({ address: [, path] }) => lengthOf(path) === length);
    if (some.length === 0) return undefined;
    const router = express.Router({ caseSensitive: true });
    for (const { address, handle } of some) router[address[0]](address[1], handle);
    routersByLength.set(length, router);
    return router;
  };
  const chosen = express.Router().use((req, res, next) => {
    const router = routerFor(lengthOf(req.path));
    if (router) router(req, res, next);
    else next();
  });
  mounted.set(
    chosen,
    all.map(({ row }) => row.route),
  );
  return chosen;
}

const mounted = new WeakMap<Router, readonly string[]>();

/** The routes of a router from `mountRoutes`, such as `get /inspect/leads`. */
export const routesOf = (router: Router): readonly string[] => mounted.get(router) ?? [];

/** Path segments; a trailing slash is ignored, as in routes. */
function lengthOf(path: string): number {
  return path.split('/').length - (path.endsWith('/') ? 1 : 0);
}

/** For each request: resolve the caller and the path, check the permission, parse query and body, call the handler. */
export function mountedRoutes<
  Table extends Routes,
  F extends ParamResolvers = Record<never, never>,
  Given extends object = object,
>(table: Table, guard: RouteGuard<Given>, handlers: Handlers<Table, F, Given>, resolvers?: F): MountedRoute[] {
  return Object.entries(table).map(([id, row]) => {
    // A table has the handlers of its own routes, which take the parsed input.
    const handle = handlers[id] as ((input: object) => unknown) | undefined;
    if (!handle) throw new Error(`the route ${id} has no handler`);
    return { row, handle: answering(row, guard, handle, resolvers ?? {}) };
  });
}

function answering(
  row: Route,
  guard: RouteGuard,
  handle: (input: object) => unknown,
  resolvers: ParamResolvers,
): RequestHandler {
  const names = namesIn(row.route).filter((name) => Object.hasOwn(resolvers, name));
  const [acceptedScheme, ...otherSchemes] = row.security ?? [];
  const acceptedValues = Object.entries(row.acceptedValues ?? {});
  const [readOwn, readCommon] = [queryReader(row), queryReader(guard)];
  return async (req, res, next) => {
    const path = req.params as Path; // no route has a wildcard, whose value would be an array
    if (guard.matches?.(path) === false || acceptedValues.some(([name, values]) => !values.includes(path[name] ?? '')))
      return next();
    const parameters = queryOf(req);
    if (row.when !== undefined && !parameters.has(row.when)) return next();
    if (row.isPrivate) res.set('Cache-Control', 'no-store');
    const callerNow = () =>
      row.permission === 'none' ? undefined : guard.callerOf(req, otherSchemes.length > 0 ? undefined : acceptedScheme);
    const caller = callerNow();
    guard.requirePath?.(path);
    const found: Record<string, Findable> = {};
    for (const name of names) {
      const resolved = resolvers[name]?.(path[name] ?? '', path, req);
      if (resolved === undefined) return next();
      found[name] = resolved;
    }
    const resource = caller && authorize(row, { caller, path, found }, guard);
    if (caller) res.locals.callerId = caller.userId; // for record-exchange.ts
    const query = readOwn(parameters);
    const common = readCommon(parameters);
    const body = row.body && (await readBody(row.body, req));
    const extraInput = caller && guard.extendInput?.({ caller, common, req });
    const requireAccess = () => {
      const now = callerNow();
      if (now) authorize(row, { caller: now, path, found }, guard);
    };
    const handled = handle({ caller, resource, found, path, query, body, requireAccess, req, res, ...extraInput });
    const answer = handled instanceof Promise ? await handled : handled;
    if (!row.answer || row.answer.mediaTypes) return;
    const location = res.get('Location');
    if (location?.startsWith('/') && guard.baseUrlFor) res.location(guard.baseUrlFor(req) + location);
    // Unless the handler has set another status.
    if (res.statusCode === 200) res.status(row.answer.status);
    if (answer instanceof JsonText) res.type('json').send(answer.bytes);
    else if (row.answer.schema) res.json(answer);
    else res.end();
  };
}

type Address = [verb: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string];

/** `['get', '/leads/:lead_id']` for `get /inspect/leads/{lead_id}`. */
function addressOf({ route }: Route): Address {
  const [verb, path = ''] = route.split(' ');
  // The type of a route defines its first word.
  return [verb as 'get', path.replace(/^\/[^/]+/, '').replace(/\{(\w+)\}/g, ':$1')];
}

/** A bit per segment and one for a required query parameter: of two routes with as many segments, the one that accepts more has the larger number. */
function opennessOf({ route, when }: Route): number {
  const bits = route.split('/').map((segment) => Number(segment.startsWith('{')));
  return Number.parseInt([...bits, Number(when === undefined)].join(''), 2);
}

/** Throws 403 if the caller lacks the permission, and 400 or 404 for an invalid path. */
function authorize(
  { permission: right, failsAs, target }: Route,
  { caller, path, found }: { caller: Caller; path: Path; found: Readonly<Record<string, Findable>> },
  { view, authorizer }: RouteGuard,
): StoredResource | undefined {
  const permissions: readonly Permission[] = typeof right === 'string' ? [] : right;
  if (right === 'root') requireRoot(caller, failsAs);
  const resourceAt = (name: string): StoredResource | undefined => {
    const resolved = name === 'root' ? view.root : found[name];
    if (typeof resolved !== 'object') return undefined;
    return 'resource' in resolved ? resolved.resource : resolved;
  };
  const requirePermission = ({ action, isNotOfOwn }: Permission, resource: StoredResource) => {
    if (isNotOfOwn && resource.id === caller.userId) return;
    requireRightTo(authorizer, { caller, action: actionOf(action, path, resource), resource });
  };
  // Further targets of a route are covered by its own permission.
  for (const requirement of permissions) {
    const resource = requirement.on === target?.id ? undefined : resourceAt(requirement.on);
    if (resource) requirePermission(requirement, resource);
  }
  if (!target) return undefined;
  const resource = resourceAt(target.id) ?? targetOf({ view }, String(path[target.id]), target.types);
  for (const requirement of permissions) if (requirement.on === target.id) requirePermission(requirement, resource);
  return resource;
}

/** `lambda.create` for `{new_word}.create` if that parameter is `lambdas`, `lambda.view` for `*.view` of a lambda. */
function actionOf(action: string, path: Path, resource: StoredResource): string {
  const [noun = '', verb] = action.split('.');
  if (noun === '*') return `${typeOf(resource).singular}.${verb}`;
  if (!noun.startsWith('{')) return action;
  const segment = path[noun.slice(1, -1)] ?? '';
  return `${isTypeWord(segment) ? typeOfWord(segment).singular : segment}.${verb}`;
}

/** Throws 403 for other users (D-118). @param failsAs as in `Route` */
export function requireRoot({ isRoot }: Caller, failsAs?: string): void {
  if (isRoot) return;
  const message = 'only the root user may do this; sign in as root';
  throw failsAs === undefined ? new PlatformError('forbidden', message) : forbidden(failsAs, { pointer: '/', message });
}

/** The resource with that id and one of the types; any type if none is given. Throws 400, 404. */
export function targetOf({ view }: Pick<RouteGuard, 'view'>, text: string, types: readonly TypeWord[]): StoredResource {
  const id = parseUuid(text);
  const resource = view.find(id);
  if (resource && (types.length === 0 || types.includes(typeOf(resource).collection))) return resource;
  const noun = types.map((type) => typeOfWord(type).singular).join(' or ') || 'resource';
  throw new PlatformError('not_found', `${noun} ${id} not found${resource ? `: ${describeKind(resource)}` : ''}`);
}

/** Parses the parameters that the route declares. Throws 400 for a repeated, invalid or unknown one. */
function queryReader({ query: parametersByName = {}, isStrict }: Pick<Route, 'query' | 'isStrict'>) {
  const parameters = Object.entries(parametersByName);
  const read = (query: URLSearchParams): Readonly<Record<string, unknown>> => {
    for (const name of isStrict ? query.keys() : []) {
      if (Object.hasOwn(parametersByName, name)) continue;
      const names = Object.keys(parametersByName).join(', ');
      const choice = names === '' ? 'this route accepts none' : `known parameters are ${names}`;
      throw new PlatformError('invalid_query', `unknown query parameter '${name.slice(0, 64)}'; ${choice}`);
    }
    return Object.fromEntries(
      parameters.map(([name, parameter]) => [name, readParameter(name, parameter, query, parametersByName)]),
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
  { schema, isRequired, acceptedNames }: Parameter,
  query: URLSearchParams,
  knownParameters: object,
): unknown {
  if (isRequired && !query.has(name)) throw new PlatformError('invalid_query', `query parameter '${name}' is required`);
  if (typeof acceptedNames === 'function') {
    const names = [...query.keys()].filter(
      (candidate) => acceptedNames(candidate) && !(Object.hasOwn(knownParameters, candidate) && candidate !== name),
    );
    return Object.fromEntries(names.map((parameterName) => [parameterName, singleParameter(query, parameterName)]));
  }
  const value = acceptedNames === 'all' ? query.getAll(name) : singleParameter(query, name);
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const wrong = Array.isArray(value) ? value[Number(issue?.path[0] ?? 0)] : value;
  throw new PlatformError(
    'invalid_query',
    `query parameter '${name}' must be ${issue?.message}, not '${wrong?.slice(0, 64)}'`,
  );
}

async function readBody(body: NonNullable<Route['body']>, req: Request): Promise<unknown> {
  if (body.readForm) return body.readForm(await readForm(req));
  return body.read?.(await readJson(req, body.mediaTypes));
}

const [OPEN, COMMA, CLOSE] = ['[', ',', ']'].map((mark) => Buffer.from(mark)) as [Buffer, Buffer, Buffer];

/** The JSON of a response, which is sent as it is. */
export class JsonText {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  static list(values: readonly Buffer[]): JsonText {
    const elements = values.flatMap((value, at) => (at === 0 ? [value] : [COMMA, value]));
    return new JsonText(Buffer.concat([OPEN, ...elements, CLOSE]));
  }
}

/** Routes whose modules are loaded on the first request, to keep the start fast. */
export function lazyRoutes(get: () => Promise<RequestHandler>): RequestHandler {
  let routes: RequestHandler | undefined;
  return async (req, res, next) => {
    routes ??= await get();
    routes(req, res, next);
  };
}
