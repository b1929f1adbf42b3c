import type { KeyedLog } from '../model/keyed-log.ts';
import type { WorldView } from '../model/world-view.ts';
import type { Act } from '../resources/act.ts';
import type { ResourceService } from '../resources/resource-service.ts';

/** What worlds name the stand-in's projects by that were written before it ever listened, such as the demo world. */
const SEEDED_URL = 'http://127.0.0.1:4702/api/v4/projects';
const KEY = 'scm';
const VARIABLE = 'SCM_API_URL';

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

function lambdasNaming(view: WorldView, urls: readonly (string | undefined)[]) {
  return view.all('lambdas').flatMap((lambda) => {
    const env = Object(lambda.properties.env);
    return typeof env[VARIABLE] === 'string' && urls.includes(env[VARIABLE]) ? [{ lambda, env }] : [];
  });
}
