import type { Page, WindowPlatform } from './window.ts';

export interface Named {
  id: string;
  name: string;
}

export const slider = (page: Page) => page.getByRole('slider', { name: 'Moment' });
export const timeLine = (page: Page) => page.getByRole('region', { name: 'Time line' });
export const commits = (page: Page) => page.getByRole('grid', { name: 'Commits' });
export const moment = (page: Page) => page.getByRole('region', { name: 'Moment' });

/** Sends a request with the session of the window; fails unless it succeeds. */
export async function send<T>(
  platform: WindowPlatform,
  page: Page,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const answer = await platform.send(page, method, path, body);
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as T; // as the API document says
}

/** Changes the description of the demo's first lambda this many times: commits 3, 4 and so on. */
export async function commitDescriptions(platform: WindowPlatform, page: Page, count: number): Promise<Named> {
  const [lambda] = await send<Named[]>(platform, page, 'GET', '/meta/demo/lambdas?expand=true');
  if (!lambda) throw new Error('the demo has no lambda');
  for (let version = 1; version <= count; version += 1) {
    const patch = [{ op: 'add', path: '/description', value: `version ${version}` }];
    await send(platform, page, 'PATCH', `/meta/root/lambdas/${lambda.id}`, patch);
  }
  return lambda;
}

export const newestOf = async (platform: WindowPlatform, page: Page) =>
  (await send<{ newest: number }>(platform, page, 'GET', '/inspect/history?limit=1')).newest;
export const descriptionOf = async (platform: WindowPlatform, page: Page, { id }: Named) =>
  (await send<{ description?: string }>(platform, page, 'GET', `/meta/root/resources/${id}`)).description;

/** The world without what is unique to an instance: root's account, secrets, numbers of commits. */
export const worldOf = async (platform: WindowPlatform, page: Page) => {
  const { resources } = await send<{ resources: { path: string; type: string }[] }>(
    platform,
    page,
    'GET',
    `/inspect/world/outline?at=${await newestOf(platform, page)}&limit=500`,
  );
  return resources.map(({ path, type }) => `${type} ${path}`).sort();
};
