import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import type { StoredResource, WorldView } from '../../model/record.ts';
import type { MockScm } from './mock-scm.ts';

export interface ScmAccess {
  apiUrl: string;
  token: string;
}

/** Its address and token at a start; folders of earlier versions do not contain the token. */
interface KnownScmAccess {
  url: string;
  token?: string | undefined;
}

/** The access of the last start, and the different ones before it, newest first, because a restored world can have them. */
export interface KeptScmAccess extends KnownScmAccess {
  former?: readonly KnownScmAccess[];
}

/** Placeholder for the mock GitLab in worlds that were written before its first start, such as the demo world. */
const SEEDED_URL = 'http://127.0.0.1:4702/api/v4/projects';
/** The token in worlds of earlier versions. It is publicly known and therefore not accepted any more. */
const FORMER_TOKEN = 'terrarium-scm-token';
const KEY = 'scm';
const MAX_FORMER = 20;
const URL_VARIABLE = 'SCM_API_URL';
const TOKEN_VARIABLE = 'SCM_TOKEN';

/** Starts the mock at the address of the last start if no port is set and that one is free, so that the address stays valid. */
export async function startScm(
  scm: MockScm,
  addressLog: KeyedLog<KeptScmAccess>,
  at: { host: string; port: number },
): Promise<void> {
  const last = addressLog.get(KEY)?.url;
  const port = at.port === 0 && last !== undefined ? Number(new URL(last).port) : at.port;
  try {
    await scm.start({ ...at, port });
  } catch (failure) {
    if (at.port !== 0 || Object(failure).code !== 'EADDRINUSE') throw failure;
    await scm.start(at);
  }
}

/**
 * Updates the lambdas that refer to the mock GitLab with its current address and token (D-200), which can change at each start. Values that
 * users set to anything else are kept.
 */
export async function rewriteScmUrls(
  view: WorldView,
  addressLog: KeyedLog<KeptScmAccess>,
  now: ScmAccess,
): Promise<StoredResource[]> {
  const last = addressLog.get(KEY);
  const knownAccess = last ? [{ url: last.url, token: last.token }, ...(last.former ?? [])] : [];
  if (last?.url !== now.apiUrl || last.token !== now.token) {
    const former = knownAccess.filter(({ url, token }) => url !== now.apiUrl || token !== now.token);
    await addressLog.put(KEY, { url: now.apiUrl, token: now.token, former: former.slice(0, MAX_FORMER) });
  }
  return view.all('lambdas').flatMap((lambda) => {
    const env = envWithScm(lambda.properties.env, now, knownAccess);
    return env ? [{ ...lambda, properties: { ...lambda.properties, env } }] : [];
  });
}

/** A record of a new world with the current address of the mock. */
export function withScmAt(record: StoredResource, now: ScmAccess): StoredResource {
  const env = envWithScm(record.properties.env, now);
  return env ? { ...record, properties: { ...record.properties, env } } : record;
}

/** An exported world with the placeholder for the mock, because its address and token belong to this folder. */
export function withoutScm(world: JsonObject, now: ScmAccess): JsonObject {
  const { [TOKEN_VARIABLE]: token, ...otherVariables } = world;
  if (world[URL_VARIABLE] === now.apiUrl)
    return { ...(token === now.token ? otherVariables : world), [URL_VARIABLE]: SEEDED_URL };
  const within = (part: Json): Json => (isJsonObject(part) ? withoutScm(part, now) : part);
  return Object.fromEntries(Object.entries(world).map(([name, part]) => [name, within(part)]));
}

/** The environment with the current address of the mock; undefined if it refers to another server or is up to date. */
export function envWithScm(
  env: unknown,
  now: ScmAccess,
  knownAccess: readonly KnownScmAccess[] = [],
): JsonObject | undefined {
  const { [URL_VARIABLE]: url, [TOKEN_VARIABLE]: token } = Object(env);
  if (![SEEDED_URL, ...knownAccess.map((access) => access.url)].includes(url)) return undefined;
  const isOurs = [undefined, FORMER_TOKEN, ...knownAccess.map((access) => access.token)].includes(token);
  if (url === now.apiUrl && (!isOurs || token === now.token)) return undefined;
  // Another server can have the address of an earlier start by now.
  if (!isOurs && url !== SEEDED_URL && url !== knownAccess[0]?.url) return undefined;
  return { ...Object(env), [URL_VARIABLE]: now.apiUrl, ...(isOurs && { [TOKEN_VARIABLE]: now.token }) };
}
