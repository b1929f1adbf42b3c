import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { KeyedLog } from '../../model/keyed-log.ts';
import { MockScm } from './mock-scm.ts';
import type { ScmPipelines } from './scm-pipelines.ts';
import type { ScmGroup, ScmProject } from './scm-state.ts';

const TOKEN = 'test-token';
/** Ids of tokens of jobs: of a pipeline that runs, and of one that has ended. */
const [RUNNING, ENDED] = ['5f3b8f0a-0000-4000-8000-000000000001', '5f3b8f0a-0000-4000-8000-000000000002'];
const jobToken = (id: string, key = TOKEN) =>
  `glcbt-${id}-${createHmac('sha256', key).update(id).digest('hex').slice(0, 32)}`;

// The client is the one that integrations with the real server use.
let scm: MockScm;
let gitlab: InstanceType<typeof Gitlab<false>>;
const projectsById = new Map<string, ScmProject>();
const keptGroups = new Map<string, ScmGroup>();
/** A log in memory. */
const logOf = <T>(records: Map<string, T>): KeyedLog<T> => ({
  get: (key) => records.get(key),
  entries: () => records.entries(),
  get size() {
    return records.size;
  },
  put: async (key, record) => void records.set(key, record),
  remove: async (key) => records.delete(key),
});
const faults: unknown[] = [];
const repositories = await mkdtemp(join(tmpdir(), 'terrarium repositories '));
const impossible = () => Promise.reject(new Error('no pipelines run here'));
const noPipelines: ScmPipelines = {
  list: () => [],
  logOf: () => [],
  start: impossible,
  fail: impossible,
  retry: impossible,
  cancel: () => false,
  remove: impossible,
  artifactsOf: async () => undefined,
  windowUrl: () => '',
};

beforeAll(async () => {
  scm = new MockScm({
    projects: logOf(projectsById),
    groups: logOf(keptGroups),
    token: TOKEN,
    repositories,
    registry: { folder: join(repositories, 'registry'), maxBytes: 1_000 },
    pipelines: () => noPipelines,
    projectOfJob: (id) => (id === RUNNING ? 101 : undefined),
    allowedHosts: new Set(),
    nowMs: Date.now,
    onFault: (fault) => faults.push(fault),
  });
  await scm.start({ host: '127.0.0.1', port: 0 });
  gitlab = new Gitlab({ host: scm.url, token: TOKEN });
  await scm.projects.create({ id: 101, name: 'shop', namespace: 'fern-moss' });
});
afterAll(async () => {
  await scm?.stop();
  await rm(repositories, { recursive: true, force: true });
  expect(faults).toEqual([]);
});

const call = async (
  method: string,
  path: string,
  { body, token = TOKEN, type = 'application/json' }: { body?: string; token?: string; type?: string } = {},
) => {
  const response = await fetch(`${scm.url}/api/v4${path}`, {
    method,
    headers: { 'PRIVATE-TOKEN': token, 'Content-Type': type },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
};

it("a job's token opens its own project while its pipeline runs, and nothing else", async () => {
  const other = await scm.projects.create({ name: 'other', namespace: 'fern-moss' });
  const as = async (path: string, token: string, method = 'GET') => (await call(method, path, { token })).status;
  const token = jobToken(RUNNING);
  const path = '/projects/101/merge_requests';
  expect(await as(path, token)).toBe(200);
  expect(await as('/projects/fern-moss%2Fshop/merge_requests', token)).toBe(200);
  expect(await as(`/projects/${other.id}/merge_requests`, token)).toBe(404);
  expect(await as(path, jobToken(ENDED))).toBe(401);
  expect(await as(path, jobToken(RUNNING, 'guessed'))).toBe(401);
  const byHeader = await fetch(`${scm.url}/api/v4${path}`, { headers: { 'JOB-TOKEN': token } });
  expect(byHeader.status).toBe(200);
  expect((await fetch(`${scm.url}/api/v4${path}?job_token=${token}`)).status).toBe(200);
});

it("a job's token opens what GitLab's list of job token access names, and refuses everything else", async () => {
  const project = '/projects/101';
  const opened = [
    'GET /repository/branches',
    'GET /repository/tags',
    'GET /repository/changelog',
    'GET /repository/commits/main',
    'HEAD /repository/commits/main',
    'GET /repository/commits/main/merge_requests',
    'GET /repository/files/a%2Fb.txt/raw',
    'GET /merge_requests',
    'GET /merge_requests/1',
    'GET /merge_requests/1/notes',
    'GET /merge_requests/1/notes/1',
    'GET /environments',
    'POST /environments',
    'DELETE /environments/999',
    'POST /environments/999/stop',
    'GET /deployments/1',
    'POST /deployments',
    'GET /jobs/1/artifacts',
    'GET /jobs/1/artifacts/a/b.txt',
    'GET /jobs/artifacts/main/download',
    'GET /packages',
    'GET /releases',
    'POST /releases',
    'POST /trigger/pipeline',
    'PUT /pipelines/1/metadata',
  ];
  const refused = [
    ...['GET', 'PUT', 'DELETE'].map((method) => `${method} `),
    ...['variables', 'hooks', 'access_tokens'].flatMap((kind) => [
      `GET /${kind}`,
      `POST /${kind}`,
      `DELETE /${kind}/1`,
    ]),
    'GET /variables/SECRET',
    'PUT /variables/SECRET',
    'GET /members',
    'GET /members/all',
    'POST /members',
    'GET /users',
    'POST /statuses/main',
    'GET /repository/commits/main/statuses',
    'GET /repository/commits',
    'POST /repository/commits',
    'POST /repository/branches',
    'DELETE /repository/branches/main',
    'GET /repository/branches/main',
    'POST /repository/tags',
    'GET /repository/archive',
    'GET /repository/tree',
    'GET /repository/files/a.txt',
    'POST /repository/files/a.txt',
    'PUT /repository/files/a.txt/raw',
    'POST /merge_requests',
    'PUT /merge_requests/1',
    'PUT /merge_requests/1/merge',
    'POST /merge_requests/1/notes',
    'DELETE /merge_requests/1/notes/1',
    'GET /pipelines',
    'GET /pipelines/1/variables',
    'POST /pipeline',
    'POST /pipelines/1/cancel',
    'GET /jobs',
    'GET /jobs/1',
    'GET /jobs/1/trace',
    'POST /jobs/1/play',
    'GET /protected_branches',
    'GET /Variables',
    'GET //variables',
    'GET /environments%2F..%2Fvariables',
  ];
  const token = jobToken(RUNNING);
  const statusOf = async (line: string, base = project) => {
    const [method = '', path = ''] = line.split(' ');
    return (await fetch(`${scm.url}/api/v4${base}${path}`, { method, headers: { 'JOB-TOKEN': token } })).status;
  };
  for (const line of opened) expect([line, [401, 403].includes(await statusOf(line))]).toEqual([line, false]);
  for (const line of refused) expect([line, await statusOf(line)]).toEqual([line, 403]);
  for (const line of [
    'GET /projects',
    'POST /projects',
    'GET /groups',
    'GET /user',
    'GET /users',
    'GET /namespaces',
    'GET /personal_access_tokens/self',
  ])
    expect([line, await statusOf(line, '')]).toEqual([line, 403]);
  await gitlab.ProjectVariables.create(101, 'SECRET', 'of production', { protected: true });
  const read = await call('GET', '/projects/101/variables/SECRET', { token });
  expect(read).toMatchObject({ status: 403, body: { message: expect.stringContaining('CI_JOB_TOKEN') } });
  await gitlab.ProjectVariables.remove(101, 'SECRET');
});

describe('projects', () => {
  it('can be deleted while their last commit may still start a pipeline', async () => {
    const commit = async (name: string) => {
      const { id } = await scm.projects.create({ name, namespace: 'short-lived' });
      const actions = [{ action: 'create', file_path: 'a.txt', content: name }];
      await gitlab.ProjectHooks.add(id, `${scm.url}/unused`, { pushEvents: true });
      const body = JSON.stringify({ branch: 'main', commit_message: 'Add a', actions });
      expect(await call('POST', `/projects/${id}/repository/commits`, { body })).toMatchObject({ status: 201 });
      return id;
    };
    for (let count = 0; count < 15; count += 1) {
      const id = await commit(`number-${count}`);
      expect(await call('DELETE', `/projects/${id}`)).toMatchObject({ status: 202 });
    }
    // By then what followed from the commits before has ended.
    await commit('last');
    await commit('very-last');
    expect(faults).toEqual([]);
  });

  it('are found by id and by path, with links to themselves', async () => {
    const byId = await gitlab.Projects.show(101);
    expect(byId).toMatchObject({
      id: 101,
      path_with_namespace: 'fern-moss/shop',
      default_branch: 'main',
      web_url: `${scm.url}/fern-moss/shop`,
      _links: { self: `${scm.url}/api/v4/projects/101` },
    });
    expect(await gitlab.Projects.show('fern-moss/shop')).toEqual(byId);
    expect(await gitlab.Projects.all({ search: 'SHOP' })).toMatchObject([{ id: 101 }]);
    expect(await gitlab.Projects.all({ search: 'nothing' })).toEqual([]);
  });

  it('are made once for each path', async () => {
    const newProject = { body: JSON.stringify({ name: 'Blog', namespace: 'fern-moss' }) };
    expect(await call('POST', '/projects', newProject)).toMatchObject({
      status: 201,
      body: { path_with_namespace: 'fern-moss/blog' },
    });
    expect((await call('POST', '/projects', newProject)).status).toBe(409);
    expect(await call('POST', '/projects', { body: '{}' })).toMatchObject({
      status: 400,
      body: { error: 'name is missing' },
    });
  });
});

describe('merge requests and notes', () => {
  it('are made, listed by branch, told things, merged and closed', async () => {
    const { id } = await scm.projects.create({ name: 'reviewed', namespace: 'fern-moss' });
    const mergeRequest = await gitlab.MergeRequests.create(id, 'feature/a', 'main', 'Sell ferns');
    expect(mergeRequest).toMatchObject({
      iid: 1,
      state: 'opened',
      source_branch: 'feature/a',
      web_url: `${scm.url}/fern-moss/reviewed/-/merge_requests/1`,
    });
    await expect(gitlab.MergeRequests.create(id, 'feature/a', 'main', 'Again')).rejects.toThrow(
      /Another open merge request already exists for this source branch: !1/,
    );
    await gitlab.MergeRequests.create(id, 'feature/b', 'main', 'Other');
    expect(await gitlab.MergeRequests.all({ projectId: id, sourceBranch: 'feature/a', state: 'opened' })).toMatchObject(
      [{ iid: 1 }],
    );

    const note = await gitlab.MergeRequestNotes.create(id, 1, 'Deployed to http://localhost:4701/x');
    expect(note).toMatchObject({ body: 'Deployed to http://localhost:4701/x', noteable_iid: 1, system: false });
    await gitlab.MergeRequestNotes.edit(id, 1, note.id, { body: 'elsewhere' });
    expect(await gitlab.MergeRequestNotes.show(id, 1, note.id)).toMatchObject({ body: 'elsewhere' });
    expect(await gitlab.MergeRequestNotes.all(id, 1)).toHaveLength(1);
    await gitlab.MergeRequestNotes.remove(id, 1, note.id);
    expect(await gitlab.MergeRequestNotes.all(id, 1)).toEqual([]);

    expect(await gitlab.MergeRequests.merge(id, 1)).toMatchObject({ state: 'merged' });
    expect(await gitlab.MergeRequests.edit(id, 2, { stateEvent: 'close' })).toMatchObject({ state: 'closed' });
    expect(await gitlab.MergeRequests.all({ projectId: id, state: 'opened' })).toEqual([]);
  });
});

describe('environments', () => {
  it('are made, listed, given an address, stopped and deleted', async () => {
    const { id } = await scm.projects.create({ name: 'deployed', namespace: 'fern-moss' });
    const environment = await gitlab.Environments.create(id, 'review/feature/a');
    expect(environment).toMatchObject({
      name: 'review/feature/a',
      slug: 'review-feature-a',
      external_url: null,
      state: 'available',
    });
    const url = 'http://localhost:4701/website/shop-feature-a';
    expect(await gitlab.Environments.edit(id, environment.id, { externalUrl: url })).toMatchObject({
      external_url: url,
    });
    expect(await gitlab.Environments.all(id, { name: 'review/feature/a' })).toMatchObject([{ external_url: url }]);
    expect(
      (
        await call('PUT', `/projects/${id}/environments/${environment.id}`, {
          body: '{"external_url":"javascript:alert(1)"}',
        })
      ).status,
    ).toBe(400);
    expect((await call('POST', `/projects/${id}/environments`, { body: '{"name":"review/feature/a"}' })).status).toBe(
      409,
    );
    expect(await gitlab.Environments.stop(id, environment.id)).toMatchObject({ state: 'stopped' });
    await gitlab.Environments.remove(id, environment.id);
    expect(await gitlab.Environments.all(id)).toEqual([]);
  });
});

describe('commit statuses and variables', () => {
  it('tell how jobs of a commit ended, the latest of each name', async () => {
    const { id: sha } = await gitlab.Commits.create(101, 'statuses', 'Add a', [
      { action: 'create', filePath: 'a.txt', content: 'a' },
    ]);
    await gitlab.Commits.editStatus(101, sha, 'running', { name: 'build', ref: 'feature/a' });
    await gitlab.Commits.editStatus(101, sha, 'success', { name: 'build', ref: 'feature/a' });
    expect(await gitlab.Commits.allStatuses(101, sha)).toMatchObject([{ name: 'build', status: 'success' }]);
    expect(await call('POST', `/projects/101/statuses/${sha}`, { body: '{"state":"odd"}' })).toMatchObject({
      status: 400,
      body: { error: 'state does not have a valid value' },
    });
    for (const none of ['abc123', 'f'.repeat(40)])
      expect(await call('POST', `/projects/101/statuses/${none}`, { body: '{"state":"success"}' })).toMatchObject({
        status: 404,
        body: { message: '404 Commit Not Found' },
      });
  });

  it('keep variables of a project', async () => {
    await gitlab.ProjectVariables.create(101, 'APP_SERVICE_PORT', '8080');
    await gitlab.ProjectVariables.edit(101, 'APP_SERVICE_PORT', 'otter');
    expect(await gitlab.ProjectVariables.all(101)).toMatchObject([{ key: 'APP_SERVICE_PORT', value: 'otter' }]);
    // What others see of it are names only.
    expect(JSON.stringify(scm.snapshot())).not.toContain('otter');
    await gitlab.ProjectVariables.remove(101, 'APP_SERVICE_PORT');
    expect(await gitlab.ProjectVariables.all(101)).toEqual([]);
  });
});

describe('variables', () => {
  const path = '/projects/101/variables';
  const make = (body: object) => call('POST', path, { body: JSON.stringify(body) });
  const drop = (key: string, query = '') => call('DELETE', `${path}/${key}${query}`);

  it('keep the sent values, and later changes', async () => {
    const attributes = {
      masked: true,
      protected: 'true',
      raw: true,
      environment_scope: 'review/*',
      description: 'of the CRM',
    };
    const created = await make({ key: 'CRM_KEY', value: 'pa$$word-8', ...attributes });
    expect(created).toMatchObject({ status: 201, body: { ...attributes, protected: true, variable_type: 'env_var' } });
    const changed = await call('PUT', `${path}/CRM_KEY`, { body: '{"value":"pa$$word-9","protected":false}' });
    expect(changed.body).toMatchObject({ value: 'pa$$word-9', masked: true, protected: false, raw: true });
    expect((await call('GET', `${path}/CRM_KEY`)).body).toEqual(changed.body);
    expect((await make({ key: 'CA', value: 'text', variable_type: 'file' })).body).toMatchObject({
      variable_type: 'file',
    });
    expect((await make({ key: 'HIDDEN', value: 'a-secret-it-is', masked_and_hidden: true })).body.masked).toBe(true);
    for (const key of ['CRM_KEY', 'CA', 'HIDDEN']) expect((await drop(key)).status).toBe(204);
  });

  it('of one key are distinguished by the environments that they are for', async () => {
    await make({ key: 'TIER', value: 'free' });
    expect((await make({ key: 'TIER', value: 'gold', environment_scope: 'production' })).status).toBe(201);
    expect((await make({ key: 'TIER', value: 'x', environment_scope: 'production' })).status).toBe(400);
    const filter = '?filter[environment_scope]=production';
    expect(await call('GET', `${path}/TIER`)).toMatchObject({ status: 409 });
    expect((await call('GET', `${path}/TIER${filter}`)).body).toMatchObject({ value: 'gold' });
    expect((await drop('TIER', filter)).status).toBe(204);
    expect((await call('GET', `${path}/TIER`)).body).toMatchObject({ value: 'free' });
    await drop('TIER');
  });

  it.each([
    ['BASH_ENV', 'shells'],
    ['BASH_FUNC_ls%%', 'letters, digits'],
    ['ENV', 'shells'],
    ['PATH', 'shells'],
    ['LD_PRELOAD', 'the dynamic loader'],
    ['LD_AUDIT', 'the dynamic loader'],
    ['DYLD_INSERT_LIBRARIES', 'the dynamic loader'],
    ['NODE_OPTIONS', 'Node'],
    ['PYTHONSTARTUP', 'Python'],
    ['PERL5OPT', 'Perl'],
    ['GIT_SSH_COMMAND', 'git'],
    ['GIT_CONFIG_COUNT', 'git'],
    ["A' -v /:/host '", 'letters, digits'],
  ])('cannot be %s: %s come before the script', async (key, reason) => {
    const refused = await make({ key, value: '/tmp/x' });
    expect(refused).toMatchObject({ status: 400, body: { message: { key: [expect.stringContaining(reason)] } } });
    expect((await call('GET', path)).body).toEqual([]);
  });

  it.each(['GIT_DEPTH', 'GIT_STRATEGY', 'NODE_ENV', 'LDAP_URL', 'DATABASE_PATH', 'ENVIRONMENT'])(
    'can be %s, which is for scripts',
    async (key) => {
      expect((await make({ key, value: '1' })).status).toBe(201);
      expect((await drop(key)).status).toBe(204);
    },
  );

  it.each([
    { value: 'short' },
    { value: 'two\nlines of it' },
    { value: 'with a space' },
    { value: 'pa$$word-8' },
    { value: 'with a space', raw: true },
    { value: 'x\0', masked: false },
  ])('are refused when their value cannot be masked, or be at all: %j', async (body) => {
    const refused = await make({ key: 'SECRET', masked: true, ...body });
    expect(refused).toMatchObject({
      status: 400,
      body: { message: { value: [expect.stringContaining('is invalid')] } },
    });
    expect(await make({ key: 'SECRET', value: 'x', masked: 'perhaps' })).toMatchObject({
      status: 400,
      body: { error: 'masked is invalid' },
    });
    expect((await call('GET', path)).body).toEqual([]);
  });
});

describe('groups', () => {
  it('are the paths above projects, and others that are created, by id and by path', async () => {
    await scm.projects.create({ name: 'plants', namespace: 'fern-moss/web' });
    const group = await gitlab.Groups.show('fern-moss/web');
    expect(group).toMatchObject({ name: 'web', full_path: 'fern-moss/web', web_url: `${scm.url}/fern-moss/web` });
    expect(await gitlab.Groups.show(group.id)).toEqual(group);
    expect(await gitlab.Groups.show('fern-moss')).toMatchObject({ id: group.parent_id, parent_id: null });
    expect((await gitlab.Projects.show('fern-moss/web/plants')).namespace).toMatchObject({ id: group.id });
    expect(await call('GET', '/groups/unknown')).toMatchObject({
      status: 404,
      body: { message: '404 Group Not Found' },
    });
    await gitlab.Groups.create('Later', 'later', { parentId: group.id });
    const paths = (await gitlab.Groups.all()).map(({ full_path }) => full_path);
    expect(paths).toEqual(expect.arrayContaining(['fern-moss', 'fern-moss/web', 'fern-moss/web/later']));
    expect((await call('POST', '/groups', { body: '{"name":"x","path":"fern-moss"}' })).status).toBe(409);
    expect((await call('POST', '/groups', { body: '{}' })).status).toBe(400);
  });

  it('have variables, which tokens of jobs cannot read', async () => {
    await gitlab.GroupVariables.create('fern-moss', 'PLATFORM_API_KEY', 'of-the-group', { masked: true });
    expect(await gitlab.GroupVariables.all('fern-moss')).toMatchObject([{ key: 'PLATFORM_API_KEY', masked: true }]);
    await gitlab.GroupVariables.edit('fern-moss', 'PLATFORM_API_KEY', 'of-the-group-2');
    expect(await gitlab.GroupVariables.show('fern-moss', 'PLATFORM_API_KEY')).toMatchObject({
      value: 'of-the-group-2',
    });
    expect(keptGroups.get('fern-moss')?.variables).toHaveLength(1);
    expect(await gitlab.ProjectVariables.all(101)).toEqual([]);
    expect((await call('GET', '/groups/fern-moss/variables', { token: jobToken(RUNNING) })).status).toBe(403);
    await gitlab.GroupVariables.remove('fern-moss', 'PLATFORM_API_KEY');
    expect(await gitlab.GroupVariables.all('fern-moss')).toEqual([]);
  });
});

describe('paging', () => {
  it('gives pages with the headers that clients walk on by', async () => {
    for (let count = 0; count < 25; count++)
      await scm.projects.createEnvironment(scm.projects.get('101'), `env-${count}`, null);
    const { headers, body } = await call('GET', '/projects/101/environments?per_page=10&page=2');
    expect(body).toHaveLength(10);
    expect(
      ['x-page', 'x-per-page', 'x-prev-page', 'x-next-page', 'x-total', 'x-total-pages'].map((name) =>
        headers.get(name),
      ),
    ).toEqual(['2', '10', '1', '3', '25', '3']);
    expect(headers.get('link')).toContain('rel="next"');
    expect(await gitlab.Environments.all(101)).toHaveLength(25);
    expect((await call('GET', '/projects/101/environments?page=0')).status).toBe(400);
  });
});

describe('rejections', () => {
  it('no token or a wrong one, in the words of the real server', async () => {
    expect(await call('GET', '/projects', { token: 'wrong' })).toMatchObject({
      status: 401,
      body: { message: '401 Unauthorized' },
    });
    expect((await fetch(`${scm.url}/api/v4/user`)).status).toBe(401);
    for (const request of [
      fetch(`${scm.url}/api/v4/user?private_token=${TOKEN}`),
      fetch(`${scm.url}/api/v4/user`, { headers: { Authorization: `Bearer ${TOKEN}` } }),
    ]) {
      expect((await request).status).toBe(200);
    }
  });

  it('a write that a web page from elsewhere has sent, whatever it shows, and no other', async () => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', 'PRIVATE-TOKEN': TOKEN };
    const write = async (headers: Record<string, string>) => {
      const body = `source_branch=${Math.random()}&target_branch=main&title=x`;
      const url = `${scm.url}/api/v4/projects/101/merge_requests`;
      return (await fetch(url, { method: 'POST', headers: { ...form, ...headers }, body })).status;
    };
    const port = new URL(scm.url).port;
    for (const headers of [
      { Origin: 'https://evil.example.com' },
      { Origin: 'null' },
      { Origin: `http://localhost:${port}` },
      { Origin: 'http://127.0.0.1:4700' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { 'Sec-Fetch-Site': 'cross-site', Origin: scm.url },
    ]) {
      expect(await write(headers), JSON.stringify(headers)).toBe(403);
    }
    const before = scm.projects.get('101').merge_requests.length;
    expect(await write({})).toBe(201);
    expect(await write({ Origin: scm.url, 'Sec-Fetch-Site': 'same-origin' })).toBe(201);
    expect(scm.projects.get('101').merge_requests).toHaveLength(before + 2);
    // Reading is left alone: who follows a link comes from elsewhere.
    const link = await fetch(`${scm.url}/fern-moss/shop`, { headers: { 'Sec-Fetch-Site': 'cross-site' } });
    expect(link.status).toBe(200);
  });

  it('a Host that is not ours', async () => {
    const { hostname, port } = new URL(scm.url);
    const headers = { host: 'evil.example.com', 'private-token': TOKEN };
    const [answer] = await once(get({ hostname, port, path: '/api/v4/projects', headers }), 'response');
    answer.resume();
    expect(answer.statusCode).toBe(403);
  });

  it('missing, invalid or too large', async () => {
    expect(await call('GET', '/projects/999')).toMatchObject({
      status: 404,
      body: { message: '404 Project Not Found' },
    });
    expect(await call('GET', '/projects/101/merge_requests/99')).toMatchObject({ status: 404 });
    expect(await call('GET', '/nothing')).toMatchObject({
      status: 501,
      body: {
        message: expect.stringMatching(/^501 Not Implemented: the mock GitLab does not have GET \/nothing\. It has/),
      },
    });
    expect((await call('POST', '/projects', { body: '{' })).status).toBe(400);
    expect((await call('POST', '/projects', { body: JSON.stringify({ name: 'x'.repeat(2_000_000) }) })).status).toBe(
      413,
    );
    expect(await call('POST', '/projects/101/merge_requests', { body: '{}' })).toMatchObject({
      status: 400,
      body: { error: 'source_branch is missing, target_branch is missing, title is missing' },
    });
  });
});

it('a merge request has the labels that are sent with it, are added to it and removed from it, and is found by them', async () => {
  const { id } = await gitlab.Projects.create({ name: 'labeled' });
  const labelsOf = async (change: object) => (await gitlab.MergeRequests.edit(id, 1, change)).labels;
  const mergeRequest = await gitlab.MergeRequests.create(id, 'feature', 'main', 'Ferns', { labels: 'bug, ui,bug' });
  expect(mergeRequest.labels).toEqual(['bug', 'ui']);
  expect(await labelsOf({ title: 'Mosses' })).toEqual(['bug', 'ui']);
  expect(await labelsOf({ addLabels: 'a,ui', removeLabels: 'bug' })).toEqual(['ui', 'a']);
  const found = async (labels: string) =>
    (await gitlab.MergeRequests.all({ projectId: id, labels })).map(({ iid }) => iid);
  expect([await found('a'), await found('ui,a'), await found('a,bug')]).toEqual([[1], [1], []]);
  const updateLabels = (body: string, type: string) => call('PUT', `/projects/${id}/merge_requests/1`, { body, type });
  const form = 'application/x-www-form-urlencoded';
  expect((await updateLabels('{"labels": ["b", "c"]}', 'application/json')).body).toMatchObject({ labels: ['b', 'c'] });
  expect((await updateLabels('labels[]=d&labels[]=e', form)).body).toMatchObject({ labels: ['d', 'e'] });
  expect((await gitlab.MergeRequests.show(id, 1)).labels).toEqual(['d', 'e']);
  expect((await updateLabels('labels=', form)).body).toMatchObject({ labels: [] });
  await labelsOf({ labels: 'x' });
  expect((await updateLabels('{"labels": []}', 'application/json')).body).toMatchObject({ labels: [] });
});

it('an access token opens its project within its scopes until it is revoked, and only its hash is kept', async () => {
  const { token, id } = await gitlab.ProjectAccessTokens.create(101, 'reader', ['read_api'], '2099-01-01' as never);
  const as = async (path: string, method = 'GET') => (await call(method, path, { token })).status;
  expect(await as('/projects/101')).toBe(200);
  expect(await as('/projects/101/merge_requests', 'POST')).toBe(403);
  expect(JSON.stringify([...projectsById])).not.toContain(token);
  const other = await scm.projects.create({ name: 'closed', namespace: 'fern-moss' });
  expect(await as(`/projects/${other.id}`)).toBe(404);
  await gitlab.ProjectAccessTokens.revoke(101, id);
  expect(await as('/projects/101')).toBe(401);
});

it('a push of a repository or an image takes a token that may; images are pulled without one', async () => {
  const git = async (token: string) => {
    const authorization = `Basic ${Buffer.from(`oauth2:${token}`).toString('base64')}`;
    const url = `${scm.url}/fern-moss/shop.git/info/refs?service=git-receive-pack`;
    return (await fetch(url, { headers: { authorization } })).status;
  };
  expect([await git(TOKEN), await git(jobToken(RUNNING)), await git('wrong')]).toEqual([200, 403, 401]);
  const image = async (method: string, path: string, token: string) =>
    (await fetch(`${scm.url}/v2/fern-moss/${path}`, { method, headers: { authorization: `Bearer ${token}` } })).status;
  expect(await image('GET', 'shop/tags/list', 'anonymous')).toBe(200);
  expect(await image('POST', 'shop/blobs/uploads/', 'anonymous')).toBe(403);
  expect(await image('POST', 'shop/blobs/uploads/', jobToken(RUNNING))).toBe(202);
  expect(await image('POST', 'other/blobs/uploads/', jobToken(RUNNING))).toBe(403);
});

it('a push to a platform under Deno, which would not end, is refused', async () => {
  const { versions } = process;
  onTestFinished(() => void Object.defineProperty(process, 'versions', { value: versions }));
  Object.defineProperty(process, 'versions', { value: { ...versions, deno: '2.0.0' } });
  const headers = { authorization: `Basic ${Buffer.from(`oauth2:${TOKEN}`).toString('base64')}` };
  const pushed = await fetch(`${scm.url}/fern-moss/shop.git/info/refs?service=git-receive-pack`, { headers });
  expect([pushed.status, await pushed.text()]).toEqual([501, expect.stringContaining('under Node.js or Bun')]);
  const refsResponse = await fetch(`${scm.url}/fern-moss/shop.git/info/refs?service=git-upload-pack`, { headers });
  expect(refsResponse.status).toBe(200);
});

it('its pages show text as text', async () => {
  const project = scm.projects.get('101');
  const mergeRequest = await scm.projects.createMergeRequest(project, {
    title: '<script>alert(1)</script>',
    description: '',
    source_branch: 'x',
    target_branch: 'main',
  });
  await scm.projects.addNote(scm.projects.get('101'), mergeRequest, 'see http://localhost:4701/a?b=1&c="><img src=x>');
  const page = await fetch(`${scm.url}/fern-moss/shop/-/merge_requests/${mergeRequest.iid}`);
  const html = await page.text();
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  expect(html).not.toContain('<script>');
  expect(html).not.toContain('<img');
  expect(html).toContain('href="http://localhost:4701/a?b=1&#38;c="');
  expect((await fetch(`${scm.url}/fern-moss/shop`)).status).toBe(200);
});

it('projects take 64 MB together: changes that exceed this are refused, and deletions are not', async () => {
  const { iid } = await gitlab.MergeRequests.create(101, 'much', 'main', 'Much to say');
  const notes = `/projects/101/merge_requests/${iid}/notes`;
  const post = () => call('POST', notes, { body: JSON.stringify({ body: 'n'.repeat(1_000_000) }) });
  const { id: first } = (await post()).body;
  const { projects } = scm;
  const fill = () => {
    const project = projects.get('101');
    return projects.addNote(project, projects.mergeRequest(project, String(iid)), 'n'.repeat(16_200_000));
  };
  for (let n = 0; n < 4; n++) await fill();
  expect((await post()).status).toBe(201);
  const refused = await post();
  expect([refused.status, refused.body.message]).toEqual([
    507,
    expect.stringMatching(/keeps 64 MB of projects; delete/),
  ]);
  expect((await call('POST', '/projects', { body: JSON.stringify({ name: 'n'.repeat(999_999) }) })).status).toBe(507);
  expect((await call('DELETE', `${notes}/${first}`)).status).toBe(204);
  expect((await post()).status).toBe(201);
});
