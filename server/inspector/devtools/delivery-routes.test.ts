import { beforeAll, describe, expect, it } from 'vitest';
import { makeAccount, rootPairOf } from '../../testing/account.ts';
import { type Reply, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { restoreWorldAfterEach } from '../../testing/restore-world-after-each.ts';
import type { Body } from '../../testing/tenant.ts';

const platform = sharedPlatform({ seed: 'demo' });
let auth: string;
let project: string;

const inspect = (verb: string, path: string, body?: unknown, as = auth): Promise<Reply> =>
  send(verb, `${platform.emulator.baseUrl}/inspect/${path}`, { auth: as, ...(body !== undefined && { body }) });
const variable = async (name: string): Promise<Body> => {
  const [{ variables }] = (await inspect('GET', 'scm/projects')).body;
  return variables.find((candidate: Body) => candidate.name === name);
};
const START = {
  project: { id: 101, path: 'fern-moss/shop' },
  branch: 'feature/ferns',
  sha: 'a'.repeat(40),
  variables: { present: [], missing: [] },
  jobs: [],
};

beforeAll(async () => {
  auth = rootPairOf(platform);
  project = `scm/projects/${(await inspect('GET', 'scm/projects')).body[0].id}`;
});
restoreWorldAfterEach(platform);

/** Deletes the account as which pipelines run. */
const deletePipelineAccount = async () => {
  const [account] = (await platform.root.get('/root/users?expand=true&name=ci-service')).body;
  await platform.root.send('DELETE', `/root/users/${account.id}`);
};

describe("a project's variables", () => {
  it('have each a description of its own', async () => {
    const [{ variables }] = (await inspect('GET', 'scm/projects')).body;
    const abouts = variables.map(({ about: description }: Body) => description);
    expect(new Set(abouts).size).toBe(abouts.length);
  });

  it('are generated for each run or come from the world, unless the project sets them; values are never shown', async () => {
    expect(await variable('PLATFORM_API_SECRET')).toMatchObject({ from: 'run' });
    expect(await variable('PLATFORM_DEPLOY_URL')).toMatchObject({ from: 'platform' });
    for (const value of ['first-s3cret', 's3cret']) {
      expect(await inspect('PUT', `${project}/variables/PLATFORM_API_SECRET`, { value })).toMatchObject({
        status: 204,
      });
    }
    await inspect('PUT', `${project}/variables/COLOUR`, { value: 'green' });
    expect(await variable('PLATFORM_API_SECRET')).toMatchObject({ from: 'project' });
    expect(await variable('COLOUR')).toEqual({ name: 'COLOUR', about: 'of this project', from: 'project' });
    expect(JSON.stringify((await inspect('GET', 'scm/projects')).body)).not.toContain('s3cret');
    const { apiUrl, token } = (await inspect('GET', 'scm')).body;
    const projectVariable = await fetch(`${apiUrl}/101/variables/PLATFORM_API_SECRET`, {
      headers: { 'PRIVATE-TOKEN': token },
    });
    expect(await projectVariable.json()).toMatchObject({ value: 's3cret' });
    expect(await inspect('DELETE', `${project}/variables/PLATFORM_API_SECRET`)).toMatchObject({ status: 204 });
    expect(await variable('PLATFORM_API_SECRET')).toMatchObject({ from: 'run' });
  });

  it('are missing with a reason when the world does not have what gives them', async () => {
    const [deploy] = (await platform.root.get('/demo/apiendpoints?expand=true&resource=/deploy')).body;
    await platform.root.send('DELETE', `/demo/apiendpoints/${deploy.id}`);
    await deletePipelineAccount();
    expect(await variable('PLATFORM_DEPLOY_URL')).toMatchObject({ missing: expect.stringContaining('/deploy') });
    expect(await variable('PLATFORM_API_KEY')).toMatchObject({
      missing: expect.stringContaining("user 'ci-service' does not exist"),
    });
    expect(await variable('PLATFORM_TARGET_ENV_UUID')).toMatchObject({ from: 'platform' });
  });

  it.each([
    ['PUT', 'scm/projects/9999/variables/A', { value: 'x' }, 404],
    ['DELETE', 'scm/projects/9999/variables/A', undefined, 404],
    ['PUT', 'scm/projects/101/variables/1A', { value: 'x' }, 400],
    ['PUT', `scm/projects/101/variables/${encodeURIComponent('<b>')}`, { value: 'x' }, 400],
    ['PUT', 'scm/projects/101/variables/A', { value: '' }, 400],
    ['PUT', 'scm/projects/101/variables/A', { value: 'x', more: 1 }, 400],
  ])('refuses %s %s', async (verb, path, body, status) => {
    expect(await inspect(verb, path, body)).toMatchObject(refusal(status));
  });

  it('are for root to set, and runs for root to stop', async () => {
    const { basic: visitor } = await makeAccount(platform, 'visitor');
    for (const [verb, path, body] of [
      ['PUT', `${project}/variables/A`, { value: 'x' }],
      ['DELETE', `${project}/variables/A`],
      ['POST', 'pipelines/demo'],
      ['POST', 'pipelines/some/stop'],
      ['POST', 'pipelines/some/jobs/build/retry'],
    ] as const) {
      expect(await inspect(verb, path, body, visitor), path).toMatchObject(refusal(403));
    }
  });
});

describe('runs', () => {
  it('have a deployment address that is a URL', async () => {
    for (const deployUrl of ['text', '/ci/deploy', 'ftp://localhost/ci/deploy', 'javascript:alert(1)'])
      expect(await inspect('POST', 'pipelines', { ...START, deployUrl }), deployUrl).toMatchObject(refusal(400));
  });

  it('have their place in the world, and cannot be stopped when a command began them', async () => {
    const environments: Body[] = (await platform.root.get('/demo/environments?expand=true')).body;
    const [target, otherEnvironment] = environments;
    const run = (await inspect('POST', 'pipelines', { ...START, targetEnvironmentId: target?.id })).body;
    await inspect('POST', 'pipelines', { ...START, targetEnvironmentId: 'no id' });
    const listed = async (query: string) => (await inspect('GET', `pipelines${query}`)).body.map(({ id }: Body) => id);
    expect(await listed(`?scope=${target?.properties.workspace.id}`)).toEqual([run.id]);
    expect(await listed(`?scope=${otherEnvironment?.id}`)).toEqual([]);
    expect(await listed('')).toHaveLength(2);
    // Jobs of earlier versions have more members.
    const jobs = [{ name: 'deploy', stage: 'deploy', state: 'success', reusedFrom: 'run' }];
    const ended = await inspect('PUT', `pipelines/${run.id}`, { state: 'success', jobs });
    expect(ended).toMatchObject({ status: 200, body: { id: run.id, state: 'success' } });
    expect((await inspect('GET', `pipelines/${run.id}`)).body).toMatchObject({ ...ended.body, log: [] });
    expect(await inspect('GET', 'pipelines?scope=x')).toMatchObject(refusal(400));
    expect(await inspect('POST', `pipelines/${run.id}/stop`)).toMatchObject(refusal(409));
    expect(await inspect('POST', 'pipelines/none/stop')).toMatchObject(refusal(404));
    expect(await inspect('POST', `pipelines/${run.id}/jobs/none/retry`)).toMatchObject(refusal(404));
    await deletePipelineAccount();
    // Runs in this process; the response has the reason why it cannot run.
    const demo = await inspect('POST', 'pipelines/demo');
    expect(demo).toMatchObject(refusal(409));
    expect(demo.body.message).toContain("user 'ci-service' does not exist");
  });

  it('are listed and shown to a viewer of their environment, and to no other user', async () => {
    const [target, otherEnvironment]: Body[] = (await platform.root.get('/demo/environments?expand=true')).body;
    const [run, otherRun] = await Promise.all(
      [target, otherEnvironment].map(
        async (environment) =>
          (await inspect('POST', 'pipelines', { ...START, targetEnvironmentId: environment?.id })).body,
      ),
    );
    const viewer = await makeAccount(platform, 'viewer');
    const listed = async () => {
      const { body } = await inspect('GET', 'pipelines', undefined, viewer.basic);
      return body.flatMap(({ id }: Body) => ([run.id, otherRun.id].includes(id) ? id : []));
    };
    expect(await listed()).toEqual([]);
    await inspect('PUT', `roles/${target?.id}`, { identities: [viewer.id], role: 'viewer' });
    expect(await listed()).toEqual([run.id]);
    expect(await inspect('GET', `pipelines/${run.id}`, undefined, viewer.basic)).toMatchObject({ status: 200 });
    expect(await inspect('GET', `pipelines/${otherRun.id}`, undefined, viewer.basic)).toMatchObject(refusal(404));
  });
});
