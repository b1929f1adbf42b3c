import { resourceTypes, typeOfWord } from '../server/model/registry.ts';
import { isTypeWord, type TypeWord } from '../server/model/type-words.ts';
import { type DocumentedOperation, documentedOperations, parameterOf } from '../server/testing/api-document.ts';
import type { Init } from '../server/testing/fetch-in-process.ts';
import type { MatrixWorld } from './matrix-world.ts';

/** One operation of the API document. */
export interface Operation {
  /** E.g. `GET /meta/orgs`. */
  name: string;
  verb: string;
  path: string;
  isAtGateway: boolean;
  right: DocumentedOperation['x-terrarium-right'];
  /** Names of the required query parameters. */
  query: string[];
  mediaTypes: string[];
  /** The authentication schemes that it accepts. */
  accepts: { basic: boolean; bearer: boolean };
}

/** All operations of the document. */
export const operations: readonly Operation[] = documentedOperations.map((operation) => {
  const { verb, path, security } = operation;
  const accepts = (scheme: string) => !security?.length || security.some((requirement) => scheme in requirement);
  const parameters = operation.parameters.map(parameterOf);
  return {
    name: `${verb} ${path}`,
    verb,
    path,
    isAtGateway: operation.servers !== undefined,
    right: operation['x-terrarium-right'],
    query: parameters
      .filter((parameter) => parameter.in === 'query' && parameter.required)
      .map((parameter) => parameter.name),
    mediaTypes: Object.keys(operation.requestBody?.content ?? {}),
    accepts: { basic: accepts('basic'), bearer: accepts('bearer') },
  };
});

/** Names of parameters whose meaning depends on the path; query parameters begin with `?`. */
export type Values = (name: string, path?: string) => string;

const wordsOfParameters = new Map(resourceTypes.map(({ singular, collection }) => [`${singular}_id`, collection]));
/** The parameter at the end of a path, and the type name before it. */
const LAST_ABOVE = /\/([a-z]+)\/\{[a-z_]+\}\/[a-z]+\/$/;

/** A value for each parameter: resources of the world, and for child resources a child of the parent in the path. */
export function valuesOf(world: MatrixWorld, extraValues: Readonly<Record<string, string>>): Values {
  return (name, path = '') => {
    const collection = wordsOfParameters.get(name.replace(/^sub_/, ''));
    const value =
      extraValues[`${path} ${name}`] ??
      extraValues[name] ??
      (collection && world.idOf(collection, parentTypeIn(path, name)));
    if (value === undefined) throw new Error(`the matrix has no value for ${name} of ${path}: give it one`);
    return value;
  };
}

/** The type of the parent of a parameter's resource, from the path. */
function parentTypeIn(path: string, name: string): TypeWord | undefined {
  const [, above] = LAST_ABOVE.exec(path.slice(0, path.indexOf(`{${name}}`))) ?? [];
  return above !== undefined && isTypeWord(above) ? above : undefined;
}

/** Members of bodies that name the resource of the required permission. */
const BODY_NAMES: Readonly<Record<string, readonly string[]>> = {
  '/api/async': ['lambdaId'],
  '/inspect/access/keys': ['userId'],
  '/inspect/access/tokens': ['userId'],
};

/** The minimal request that reaches the permission check of an operation. */
export function requestOf(
  { path, query, mediaTypes, verb }: Operation,
  values: Values,
): { url: string; init: Omit<Init, 'method'> } {
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(values(name, path)));
  const parameters = new URLSearchParams(Object.fromEntries(query.map((name) => [name, values(`?${name}`)])));
  const url = query.length > 0 ? `${filled}?${parameters}` : filled;
  const [type] = mediaTypes;
  if (type === undefined) return { url, init: {} };
  if (type.endsWith('form-urlencoded')) return { url, init: { body: new URLSearchParams() } };
  const named = BODY_NAMES[path] ?? [];
  const content = verb === 'PATCH' ? [] : Object.fromEntries(named.map((name) => [name, values(name)]));
  return { url, init: { body: JSON.stringify(content), headers: { 'content-type': type } } };
}

/** The permissions that an operation requires, each with its resource. */
export function neededBy(
  { right, path }: Operation,
  world: MatrixWorld,
  values: Values,
): { action: string; id: string }[] {
  if (typeof right === 'string') return [];
  /** The endpoint publishes a lambda that is not public, so that its callers need this permission too. */
  const invokesItsLambda = { action: 'lambda.invoke', id: world.idOf('lambdas') };
  return right.flatMap(({ action, on }) => {
    const id = resourceOf(on);
    const permission = { action: action.replace('*', typeOfWord(world.collectionOf(id)).singular), id };
    return on === 'endpoint' ? [invokesItsLambda, permission] : [permission];
  });

  function resourceOf(on: string): string {
    switch (on) {
      case 'root':
        return world.rootId;
      case 'fqon':
        return world.idOf('orgs');
      case 'parent':
      case 'entitlement_id':
        return world.idOf('environments');
      case 'target':
        return world.target;
      case 'execution_id':
        return world.idOf('lambdas', 'environments');
      case 'endpoint':
        return world.idOf('apiendpoints');
      case 'api_key':
      case 'token':
        return values('lockedOut');
      default:
        return values(on, path);
    }
  }
}
