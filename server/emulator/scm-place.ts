import type { ScmInspection } from '../inspector/delivery-routes.ts';
import { PlatformError } from '../model/errors.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import type { StoredResource } from '../model/record.ts';
import type { WorldView } from '../model/world-view.ts';
import type { Act } from '../resources/act.ts';
import type { ResourceService } from '../resources/resource-service.ts';
import type { ScmStandIn } from '../standins/scm/scm-stand-in.ts';
import { pathWithNamespace, type ScmVariable, withVariable } from '../standins/scm/scm-state.ts';

/** What worlds name the stand-in's projects by that were written before it ever listened, such as the demo world. */
const SEEDED_URL = 'http://127.0.0.1:4702/api/v4/projects';
const KEY = 'scm';
const VARIABLE = 'SCM_API_URL';

/** Starts the stand-in where it was at the last start, if no port is set and that one is free: whoever knows it need not ask. */
export async function startScm(
  scm: ScmStandIn,
  places: KeyedLog<{ url: string }>,
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
 * Lets lambdas that name the source-control stand-in follow it to where it listens now (D-200): the port may be another one at
 * each start. A value that somebody set to anything else stays.
 */
export async function followScm(
  service: ResourceService,
  places: KeyedLog<{ url: string }>,
  apiUrl: string,
  act: Act,
): Promise<void> {
  const before = [SEEDED_URL, places.get(KEY)?.url];
  if (places.get(KEY)?.url !== apiUrl) await places.put(KEY, { url: apiUrl });
  const followers = lambdasNaming(service.view, before).filter(({ env }) => env[VARIABLE] !== apiUrl);
  if (followers.length === 0) return;
  const moved = followers.map(({ lambda, env }) => ({
    ...lambda,
    properties: { ...lambda.properties, env: { ...env, [VARIABLE]: apiUrl } },
  }));
  await service.commit(act, 'lambda.update', moved);
}

/** A record of a new world, naming the stand-in where it listens now. */
export function withScmAt(record: StoredResource, apiUrl: string): StoredResource {
  const env = Object(record.properties.env);
  if (env[VARIABLE] !== SEEDED_URL) return record;
  return { ...record, properties: { ...record.properties, env: { ...env, [VARIABLE]: apiUrl } } };
}

/** The stand-in as the inspector shows and changes it. */
export function scmInspection(scm: ScmStandIn, token: string): ScmInspection {
  const { projects } = scm;
  const change = async (id: string, variables: (of: readonly ScmVariable[]) => ScmVariable[]) => {
    const project = projects.all().find((one) => String(one.id) === id);
    if (!project) throw new PlatformError(404, `the source-control stand-in has no project ${id.slice(0, 64)}`);
    await projects.save({ ...project, variables: variables(project.variables) });
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
          variableKeys: project.variables.map(({ key }) => key),
        };
      }),
    setVariable: (id, key, value) => change(id, (present) => withVariable(present, key, value)),
    removeVariable: (id, key) => change(id, (present) => present.filter((one) => one.key !== key)),
  };
}

function lambdasNaming(view: WorldView, urls: readonly (string | undefined)[]) {
  return view.all('lambdas').flatMap((lambda) => {
    const env = Object(lambda.properties.env);
    return typeof env[VARIABLE] === 'string' && urls.includes(env[VARIABLE]) ? [{ lambda, env }] : [];
  });
}
