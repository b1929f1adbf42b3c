import type { ScmInspection } from '../delivery/delivery-routes.ts';
import { PlatformError } from '../model/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import type { StoredResource } from '../model/record.ts';
import type { WorldView } from '../model/world-view.ts';
import type { Act } from '../resources/act.ts';
import type { ResourceService } from '../resources/resource-service.ts';
import { descendants, type Seed } from '../seed/seed-node.ts';
import type { ScmStandIn } from '../standins/scm/scm-stand-in.ts';
import { pathWithNamespace, type ScmVariable } from '../standins/scm/scm-state.ts';
import { offenceOf, withVariable } from '../standins/scm/scm-variables.ts';

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
 * Lets lambdas that name the source-control stand-in follow it to where it listens now, with the token that is good now (D-200):
 * both may be others at each start. A value that somebody set to anything else stays.
 */
export async function followScm(
  service: ResourceService,
  places: KeyedLog<KeptScmAccess>,
  now: ScmAccess,
  act: Act,
): Promise<void> {
  const last = places.get(KEY);
  if (last?.url !== now.apiUrl || last.token !== now.token)
    await places.put(KEY, { url: now.apiUrl, token: now.token });
  const followers = lambdasFollowing(service.view, now, last);
  if (followers.length > 0) await service.commit(act, 'lambda.update', followers);
}

/** A record of a new world, naming the stand-in as it is reached now. */
export function withScmAt(record: StoredResource, now: ScmAccess): StoredResource {
  const env = following(record.properties.env, now);
  return env ? { ...record, properties: { ...record.properties, env } } : record;
}

/** Lets the lambdas of a seed name the stand-in as it is reached now; changes the seed. */
export function nameScmIn(seed: Seed, now: ScmAccess): Seed {
  for (const { word, properties } of descendants(seed.root)) {
    const env = word === 'lambdas' ? following(properties?.env, now) : undefined;
    if (properties && env) properties.env = env;
  }
  return seed;
}

/** A world that was read out, naming the stand-in as one does that has never started: where it is, and its token, are this folder's. */
export function withoutScm(world: JsonObject, now: ScmAccess): JsonObject {
  const { [TOKEN_VARIABLE]: token, ...others } = world;
  if (world[URL_VARIABLE] === now.apiUrl)
    return { ...(token === now.token ? others : world), [URL_VARIABLE]: SEEDED_URL };
  const within = (part: Json): Json => (isJsonObject(part) ? withoutScm(part, now) : part);
  return Object.fromEntries(Object.entries(world).map(([name, part]) => [name, within(part)]));
}

/** The stand-in as the inspector shows and changes it. */
export function scmInspection(scm: ScmStandIn, token: string): ScmInspection {
  const { projects } = scm;
  const change = async (id: string, variables: (of: readonly ScmVariable[]) => ScmVariable[]) => {
    const project = projects.all().find((one) => String(one.id) === id);
    if (!project) throw new PlatformError(404, `the source-control stand-in has no project ${id.slice(0, 64)}`);
    const changed = variables(project.variables);
    const [offence] = changed.filter((one) => !project.variables.includes(one)).flatMap((one) => offenceOf(one) ?? []);
    if (offence) throw new PlatformError(400, `${offence.member} ${offence.reason}`);
    await projects.save({ ...project, variables: changed });
  };
  return {
    url: scm.url,
    apiUrl: scm.apiUrl,
    token,
    snapshot: () => scm.snapshot(),
    projects: () =>
      projects.all().map((project) => {
        const path = pathWithNamespace(project);
        return {
          id: project.id,
          path,
          url: `${scm.url}/${path}`,
          variableKeys: [...new Set(project.variables.map(({ key }) => key))],
        };
      }),
    setVariable: (id, key, value) => change(id, (present) => withVariable(present, key, value)),
    removeVariable: (id, key) => change(id, (present) => present.filter((one) => one.key !== key)),
  };
}

function lambdasFollowing(view: WorldView, now: ScmAccess, last: KeptScmAccess | undefined): StoredResource[] {
  return view.all('lambdas').flatMap((lambda) => {
    const env = following(lambda.properties.env, now, last);
    return env ? [{ ...lambda, properties: { ...lambda.properties, env } }] : [];
  });
}

/** The environment with the stand-in as it is reached now; undefined when it names another server, or is right as it is. */
function following(env: unknown, now: ScmAccess, last?: KeptScmAccess): JsonObject | undefined {
  const { [URL_VARIABLE]: url, [TOKEN_VARIABLE]: token } = Object(env);
  if (typeof url !== 'string' || ![SEEDED_URL, last?.url].includes(url)) return undefined;
  const isOurs = [undefined, FORMER_TOKEN, last?.token].includes(token);
  if (url === now.apiUrl && (!isOurs || token === now.token)) return undefined;
  return { ...Object(env), [URL_VARIABLE]: now.apiUrl, ...(isOurs && { [TOKEN_VARIABLE]: now.token }) };
}
