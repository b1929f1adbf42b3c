import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { KeyedLog } from '../../model/keyed-log.ts';
import type { StoredResource } from '../../model/record.ts';
import type { WorldView } from '../../model/world-view.ts';
import type { ScmStandIn } from './scm-stand-in.ts';

/** How lambdas reach the source-control stand-in. */
export interface ScmAccess {
  /** What `SCM_API_URL` means. */
  apiUrl: string;
  token: string;
}

/** How it was reached at the last start; folders of earlier versions do not hold the token. */
export interface KeptScmAccess {
  url: string;
  token?: string;
}

/** What worlds name the stand-in's projects by that were written before it ever listened, such as the demo world. */
const SEEDED_URL = 'http://127.0.0.1:4702/api/v4/projects';
/** What worlds of earlier versions hold. Everybody knows it, so it opens nothing any more. */
const FORMER_TOKEN = 'terrarium-scm-token';
const KEY = 'scm';
const URL_VARIABLE = 'SCM_API_URL';
const TOKEN_VARIABLE = 'SCM_TOKEN';

/** Starts the stand-in where it was at the last start, if no port is set and that one is free: whoever knows it need not ask. */
export async function startScm(
  scm: ScmStandIn,
  places: KeyedLog<KeptScmAccess>,
  at: { host: string; port: number },
): Promise<void> {
  const last = places.get(KEY)?.url;
  const port = at.port === 0 && last !== undefined ? Number(new URL(last).port) : at.port;
  try {
    await scm.start({ ...at, port });
  } catch (failure) {
    if (at.port !== 0 || Object(failure).code !== 'EADDRINUSE') throw failure;
    await scm.start(at);
  }
}

/**
 * The lambdas that name the source-control stand-in, following it to where it listens now, with the token that is good now (D-200):
 * both may be others at each start. A value that somebody set to anything else stays.
 */
export async function followScm(
  view: WorldView,
  places: KeyedLog<KeptScmAccess>,
  now: ScmAccess,
): Promise<StoredResource[]> {
  const last = places.get(KEY);
  if (last?.url !== now.apiUrl || last.token !== now.token)
    await places.put(KEY, { url: now.apiUrl, token: now.token });
  return view.all('lambdas').flatMap((lambda) => {
    const env = envWithScm(lambda.properties.env, now, last);
    return env ? [{ ...lambda, properties: { ...lambda.properties, env } }] : [];
  });
}

/** A record of a new world, naming the stand-in as it is reached now. */
export function withScmAt(record: StoredResource, now: ScmAccess): StoredResource {
  const env = envWithScm(record.properties.env, now);
  return env ? { ...record, properties: { ...record.properties, env } } : record;
}

/** A world that was read out, naming the stand-in as one does that has never started: where it is, and its token, are this folder's. */
export function withoutScm(world: JsonObject, now: ScmAccess): JsonObject {
  const { [TOKEN_VARIABLE]: token, ...others } = world;
  if (world[URL_VARIABLE] === now.apiUrl)
    return { ...(token === now.token ? others : world), [URL_VARIABLE]: SEEDED_URL };
  const within = (part: Json): Json => (isJsonObject(part) ? withoutScm(part, now) : part);
  return Object.fromEntries(Object.entries(world).map(([name, part]) => [name, within(part)]));
}

/** The environment with the stand-in as it is reached now; undefined when it names another server, or is right as it is. */
export function envWithScm(env: unknown, now: ScmAccess, last?: KeptScmAccess): JsonObject | undefined {
  const { [URL_VARIABLE]: url, [TOKEN_VARIABLE]: token } = Object(env);
  if (typeof url !== 'string' || ![SEEDED_URL, last?.url].includes(url)) return undefined;
  const isOurs = [undefined, FORMER_TOKEN, last?.token].includes(token);
  if (url === now.apiUrl && (!isOurs || token === now.token)) return undefined;
  return { ...Object(env), [URL_VARIABLE]: now.apiUrl, ...(isOurs && { [TOKEN_VARIABLE]: now.token }) };
}
