import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootPairOf } from '../server/testing/account.ts';
import { send } from '../server/testing/client.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import type { Body } from '../server/testing/tenant.ts';

const DEFINITION = `stages: [test]
unit:
  stage: test
  script:
    - echo "pipeline $CI_PIPELINE_IID of $CI_COMMIT_REF_NAME"
    - echo "before $CI_COMMIT_BEFORE_SHA"
    - echo "$CI_PIPELINE_URL" > urls.txt && echo "$CI_JOB_URL" >> urls.txt
  artifacts:
    paths: [urls.txt]
`;
const run = promisify(execFile);

let platform: Platform;
let folder: string;
let gitlab: InstanceType<typeof Gitlab<false>>;
let receiver: Server;
const received: { event: string; token: string; body: Body }[] = [];

const git = async (dir: string, ...args: string[]) => {
  const gitConfig = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'credential.helper='];
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' };
  return (await run('git', ['-C', dir, ...gitConfig, ...args], { env })).stdout.trim();
};
const urlOf = (path: string, password = platform.emulator.scmToken) =>
  `${platform.emulator.scmUrl.replace('//', `//oauth2:${password}@`)}/${path}.git`;
const inspect = async (path: string): Promise<Body> =>
  (await send('GET', `${platform.emulator.baseUrl}/inspect/${path}`, { auth: rootPairOf(platform) })).body;
const ended = async (projectId: number, sha: string): Promise<Body> => {
  const find = async () =>
    (await inspect('pipelines')).find((pipeline: Body) => pipeline.project.id === projectId && pipeline.sha === sha);
  await expect.poll(async () => (await find())?.state).toMatch(/^(success|failed|canceled)$/);
  return find();
};
/** Creates a project with a repository that has the files, and pushes them. */
const pushed = async (name: string, files: Record<string, string>, ...options: string[]) => {
  const { id } = await gitlab.Projects.create({ name, namespace: 'fern-moss' } as never);
  const dir = join(folder, name);
  await run('git', ['init', '-q', '-b', 'main', dir]);
  for (const [path, text] of Object.entries(files)) await writeFile(join(dir, path), text);
  await git(dir, 'add', '-A');
  await git(dir, 'commit', '-q', '-m', 'Begin');
  await git(dir, 'remote', 'add', 'origin', urlOf(`fern-moss/${name}`));
  await git(dir, 'push', '-q', ...options, 'origin', 'main');
  return { id, dir, sha: await git(dir, 'rev-parse', 'HEAD') };
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrarium gitlab '));
  platform = await startPlatform({ seed: 'demo' });
  gitlab = new Gitlab({ host: platform.emulator.scmUrl, token: platform.emulator.scmToken });
  receiver = createServer((req, res) => {
    if (req.url === '/silent') return;
    let text = '';
    req.on('data', (chunk) => (text += chunk));
    req.on('end', () => {
      const { 'x-gitlab-event': event = '', 'x-gitlab-token': token = '' } = req.headers;
      received.push({ event: String(event), token: String(token), body: JSON.parse(text) });
      res.end('thanks');
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
});
afterAll(async () => {
  receiver?.closeAllConnections();
  receiver?.close();
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});
const receiverUrl = (path: string) => {
  const address = receiver.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver does not listen');
  return `http://127.0.0.1:${address.port}${path}`;
};

describe('Git over HTTP', () => {
  it('a push starts the pipeline, whose trace, artifacts and addresses can be read', async () => {
    const { id, sha, dir } = await pushed('web', { '.gitlab-ci.yml': DEFINITION });
    expect(await ended(id, sha)).toMatchObject({ state: 'success', branch: 'main', source: 'push', iid: 1 });
    const [pipeline] = await gitlab.Pipelines.all(id);
    expect(pipeline).toMatchObject({ status: 'success', sha, iid: 1 });
    const [job] = await gitlab.Jobs.all(id);
    expect(job).toMatchObject({ name: 'unit', status: 'success' });
    const log = await gitlab.Jobs.showLog(id, job?.id ?? 0);
    expect(log).toMatch(/^pipeline 1 of main$/m);
    expect(log).toMatch(/^before 0{40}$/m);
    const zip = (await gitlab.JobArtifacts.downloadArchive(id, { jobId: job?.id ?? 0 } as never)) as Blob;
    expect(
      Buffer.from(await zip.arrayBuffer())
        .subarray(0, 2)
        .toString(),
    ).toBe('PK');
    const file = (await gitlab.JobArtifacts.downloadArchive(id, {
      jobId: job?.id ?? 0,
      artifactPath: 'urls.txt',
    } as never)) as Blob;
    const urls = (await file.text()).trim().split('\n');
    expect(urls).toEqual([pipeline?.web_url, job?.web_url]);
    for (const url of urls) {
      const { headers } = await fetch(url, { redirect: 'manual' });
      expect(headers.get('location')).toContain(`/ui/pipelines?sel=${(await inspect('pipelines'))[0].id}`);
    }
    expect(await gitlab.Commits.allStatuses(id, sha)).toMatchObject([{ name: 'unit', status: 'success' }]);
    const mockProject = (await inspect('scm')).projects.find((candidate: Body) => candidate.id === id);
    expect(mockProject.statuses).toMatchObject([{ sha, name: 'unit', status: 'success' }]);

    // A clone has it, and a second push counts.
    const clone = join(folder, 'clone of web');
    await git(folder, 'clone', '-q', urlOf('fern-moss/web'), clone);
    expect(await git(clone, 'rev-parse', 'HEAD')).toBe(sha);
    await git(dir, 'commit', '-q', '--allow-empty', '-m', 'More');
    await git(dir, 'push', '-q', 'origin', 'main');
    expect(await ended(id, await git(dir, 'rev-parse', 'HEAD'))).toMatchObject({ iid: 2 });
    const [second] = await gitlab.Jobs.all(id);
    expect(await gitlab.Jobs.showLog(id, second?.id ?? 0)).toContain(`before ${sha}\n`);
  });

  it('a manual job runs when it is played; any other job cannot be played', async () => {
    // In a first push, all files have changed; the job that is played keeps that.
    const rules = '[{changes: [none.txt], when: manual, allow_failure: true}]';
    const laterRules = '[{changes: [none.txt], when: never}, {when: manual, allow_failure: true}]';
    const definition = `unit: {script: [echo hi]}\nship: {rules: ${rules}, script: [echo shipped]}\nlater: {rules: ${laterRules}, script: [echo later]}\n`;
    const { id, sha, dir } = await pushed('manual', { '.gitlab-ci.yml': definition });
    await ended(id, sha);
    const jobsNamed = async (jobName: string) => (await gitlab.Jobs.all(id)).filter(({ name }) => name === jobName);
    const [[unit], [ship]] = [await jobsNamed('unit'), await jobsNamed('ship')];
    expect([unit?.status, ship?.status]).toEqual(['success', 'manual']);
    await gitlab.Jobs.play(id, ship?.id ?? 0);
    await expect.poll(async () => (await jobsNamed('ship')).map(({ status }) => status)).toContain('success');
    await expect(gitlab.Jobs.play(id, unit?.id ?? 0)).rejects.toThrow(/Unplayable Job/);

    await git(dir, 'commit', '-q', '--allow-empty', '-m', 'More');
    await git(dir, 'push', '-q', 'origin', 'main');
    await ended(id, await git(dir, 'rev-parse', 'HEAD'));
    const [later] = await jobsNamed('later');
    await gitlab.Jobs.play(id, later?.id ?? 0);
    await expect.poll(async () => (await jobsNamed('later')).map(({ status }) => status)).toContain('success');
  });

  it('push options create and change a merge request, whose address the push prints ("Push options")', async () => {
    const { id, dir } = await pushed('options', { 'a.txt': 'a' });
    const push = async (title: string, ...options: string[]) => {
      await git(dir, 'commit', '-q', '--allow-empty', '-m', title);
      const optionArgs = options.flatMap((option) => ['-o', option]);
      const { stderr } = await run('git', [
        '-C',
        dir,
        '-c',
        'credential.helper=',
        'push',
        ...optionArgs,
        'origin',
        'HEAD',
      ]);
      return stderr.replaceAll(/ +$/gm, '').match(/^remote:.*$/gm) ?? [];
    };
    await git(dir, 'switch', '-q', '-c', 'feature/a');
    expect(await push('One', 'merge_request.title=Never')).toContain(
      'remote: A merge_request.create push option is required to create a merge request for feature/a',
    );
    expect(await push('Two', 'merge_request.create', 'merge_request.target=none')).toContain(
      'remote: Target branch none does not exist',
    );
    const mergeRequestOptions = [
      'create',
      'draft',
      'label=a',
      'label=b',
      'remove_source_branch',
      'description=Why',
      'assign=ada',
    ];
    const url = `${platform.emulator.scmUrl}/fern-moss/options/-/merge_requests/1`;
    expect(await push('Three', ...mergeRequestOptions.map((option) => `merge_request.${option}`))).toEqual([
      'remote:',
      'remote: WARNINGS:',
      'remote: Push options without effect here: merge_request.assign',
      'remote: View merge request for feature/a:',
      `remote:   ${url}`,
      'remote:',
    ]);
    expect(await gitlab.MergeRequests.show(id, 1)).toMatchObject({
      title: 'Draft: Feature/a',
      description: 'Why',
      source_branch: 'feature/a',
      target_branch: 'main',
      labels: ['a', 'b'],
      force_remove_source_branch: true,
      sha: await git(dir, 'rev-parse', 'HEAD'),
    });
    expect(await push('Four', 'mr.title=Ferns', 'mr.unlabel=a')).toContain(`remote:   ${url}`);
    expect(await gitlab.MergeRequests.show(id, 1)).toMatchObject({ title: 'Ferns', labels: ['b'] });
    expect(await push('Five')).toContain(`remote:   ${url}`);
    await gitlab.MergeRequests.merge(id, 1);
    expect((await gitlab.Branches.all(id)).map(({ name }) => name)).toEqual(['main']);
  });

  it('a push with ci.skip, of nothing to run or of a removed branch starts none', async () => {
    const { id, dir } = await pushed('quiet', { '.gitlab-ci.yml': DEFINITION }, '-o', 'ci.skip');
    await git(dir, 'commit', '-q', '--allow-empty', '-m', 'Change texts [skip ci]');
    await git(dir, 'push', '-q', 'origin', 'main', 'main:other');
    await git(dir, 'push', '-q', 'origin', ':other');
    expect((await gitlab.Branches.all(id)).map(({ name }) => name)).toEqual(['main']);
    await git(dir, 'commit', '-q', '--allow-empty', '-m', 'Run');
    await git(dir, 'push', '-q', 'origin', 'main');
    await ended(id, await git(dir, 'rev-parse', 'HEAD'));
    expect(await gitlab.Pipelines.all(id)).toMatchObject([{ iid: 1 }]);
  });

  it('a broken definition is accepted, and recorded as a failed pipeline with the reason', async () => {
    const { id, sha } = await pushed('broken', { '.gitlab-ci.yml': 'unit:\n  script: [echo\n' });
    await ended(id, sha);
    const [pipeline] = await gitlab.Pipelines.all(id);
    const { status, yaml_errors } = await gitlab.Pipelines.show(id, pipeline?.id ?? 0);
    expect(status).toBe('failed');
    expect(yaml_errors).toMatch(/\.gitlab-ci\.yml/);
  });

  it('two pushes at once are two pipelines, and of one branch only one push succeeds', async () => {
    const { id, dir, sha } = await pushed('busy', { '.gitlab-ci.yml': DEFINITION }, '-o', 'ci.skip');
    const commits = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const cloneDir = join(folder, `busy ${name}`);
        await git(folder, 'clone', '-q', urlOf('fern-moss/busy'), cloneDir);
        await git(cloneDir, 'commit', '-q', '--allow-empty', '-m', name);
        return { own: cloneDir, name, sha: await git(cloneDir, 'rev-parse', 'HEAD') };
      }),
    );
    await Promise.all(
      commits.map(({ own: cloneFolder, name }) => git(cloneFolder, 'push', '-q', 'origin', `HEAD:${name}`)),
    );
    for (const commit of commits) expect(await ended(id, commit.sha)).toMatchObject({ state: 'success' });
    const numbers = (await gitlab.Pipelines.all(id)).map(({ iid }) => iid);
    expect(numbers.sort()).toEqual([1, 2]);
    const results = await Promise.allSettled(
      commits.map(({ own: cloneFolder }) => git(cloneFolder, 'push', '-q', '-o', 'ci.skip', 'origin', 'HEAD:main')),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await git(dir, 'fetch', '-q', 'origin');
    expect(await git(dir, 'rev-parse', 'origin/main~1')).toBe(sha);
  });

  it('a wrong password and the token of another project open nothing, a read token cannot push', async () => {
    const { id, dir } = await pushed('closed', { README: 'text' });
    await expect(git(folder, 'ls-remote', urlOf('fern-moss/closed', 'wrong'))).rejects.toThrow(/Authentication failed/);
    const { token, id: tokenId } = await gitlab.ProjectAccessTokens.create(
      id,
      'reader',
      ['read_repository'],
      '2099-01-01' as never,
    );
    expect(await git(folder, 'ls-remote', urlOf('fern-moss/closed', token))).toContain('refs/heads/main');
    await expect(git(folder, 'ls-remote', urlOf('fern-moss/web', token))).rejects.toThrow();
    await expect(git(dir, 'push', urlOf('fern-moss/closed', token), 'main:other')).rejects.toThrow(/403/);
    await gitlab.ProjectAccessTokens.revoke(id, tokenId);
    await expect(git(folder, 'ls-remote', urlOf('fern-moss/closed', token))).rejects.toThrow(/Authentication failed/);
  });
});

describe('webhooks', () => {
  it('are sent pushes, merge requests, notes, pipelines and jobs; one that never answers delays nothing', async () => {
    const { id } = await gitlab.Projects.create({ name: 'hooked', namespace: 'fern-moss' } as never);
    const all = {
      pushEvents: true,
      mergeRequestsEvents: true,
      noteEvents: true,
      pipelineEvents: true,
      jobEvents: true,
    };
    await gitlab.ProjectHooks.add(id, receiverUrl('/silent'), all);
    const hook = await gitlab.ProjectHooks.add(id, receiverUrl('/events'), { ...all, token: 'of-the-hook' });
    await gitlab.Commits.create(id, 'main', 'Begin', [
      { action: 'create', filePath: '.gitlab-ci.yml', content: DEFINITION },
    ]);
    const mergeRequest = await gitlab.MergeRequests.create(id, 'feature', 'main', 'Feature');
    await gitlab.MergeRequestNotes.create(id, mergeRequest.iid, 'Looks good');
    const events = () => received.filter(({ body }) => body.project?.id === id);
    await expect
      .poll(() =>
        events().some(({ body }) => body.object_kind === 'pipeline' && body.object_attributes.status === 'success'),
      )
      .toBe(true);
    expect(new Set(events().map(({ event }) => event))).toEqual(
      new Set(['Push Hook', 'Merge Request Hook', 'Note Hook', 'Pipeline Hook', 'Job Hook']),
    );
    expect(new Set(events().map(({ token }) => token))).toEqual(new Set(['of-the-hook']));
    expect(events().find(({ event }) => event === 'Push Hook')?.body).toMatchObject({
      ref: 'refs/heads/main',
      commits: [{ title: 'Begin' }],
    });
    const states = events()
      .filter(({ body }) => body.object_kind === 'build')
      .map(({ body }) => body.build_status);
    expect(states.at(-1)).toBe('success');
    expect(hook.url).toBe(receiverUrl('/events'));
  });
});

describe('calls of @gitbeaker/rest', () => {
  it('each works, or is 501 in words', async () => {
    const { id, dir, sha } = await pushed('tools', { '.gitlab-ci.yml': DEFINITION, 'a.txt': 'a\n' });
    await git(dir, 'switch', '-q', '-c', 'feature');
    await writeFile(join(dir, 'b.txt'), 'b\n');
    await git(dir, 'add', '-A');
    await git(dir, 'commit', '-q', '-m', 'Add b');
    await git(dir, 'push', '-q', '-o', 'ci.skip', 'origin', 'feature');
    await ended(id, sha);
    const job = (await gitlab.Jobs.all(id))[0]?.id ?? 0;
    const pipeline = (await gitlab.Pipelines.all(id))[0]?.id ?? 0;
    const { iid } = await gitlab.MergeRequests.create(id, 'feature', 'main', 'Feature');
    const note = await gitlab.MergeRequestNotes.create(id, iid, 'text');
    const hook = await gitlab.ProjectHooks.add(id, receiverUrl('/events'));
    const token = await gitlab.ProjectAccessTokens.create(id, 'ci', ['api'], '2099-01-01' as never);
    const environment = await gitlab.Environments.create(id, 'review/a');
    const deployment = await gitlab.Deployments.create(id, 'review/a', sha, 'main', false, {
      status: 'running',
    } as never);
    const update = [{ action: 'update' as const, filePath: 'a.txt', content: 'more\n' }];
    const calls: Record<string, () => Promise<unknown>> = {
      'Metadata.show': () => gitlab.Metadata.show(),
      'Users.showCurrentUser': () => gitlab.Users.showCurrentUser(),
      'Users.all': () => gitlab.Users.all(),
      'Users.show': () => gitlab.Users.show(1),
      'PersonalAccessTokens.show': () => gitlab.PersonalAccessTokens.show(),
      'Namespaces.all': () => gitlab.Namespaces.all(),
      'Namespaces.show': () => gitlab.Namespaces.show('fern-moss'),
      'Groups.all': () => gitlab.Groups.all(),
      'Groups.show': () => gitlab.Groups.show('fern-moss'),
      'Groups.allProjects': () => gitlab.Groups.allProjects('fern-moss'),
      'Groups.allSubgroups': () => gitlab.Groups.allSubgroups('fern-moss'),
      'GroupMembers.all': () => gitlab.GroupMembers.all('fern-moss'),
      'GroupVariables.all': () => gitlab.GroupVariables.all('fern-moss'),
      'Projects.all': () => gitlab.Projects.all(),
      'Projects.show': () => gitlab.Projects.show(id),
      'Projects.edit': () => gitlab.Projects.edit(id, { description: 'of tools' }),
      'ProjectMembers.all': () => gitlab.ProjectMembers.all(id),
      'ProjectMembers.show': () => gitlab.ProjectMembers.show(id, 1),
      'ProjectVariables.all': () => gitlab.ProjectVariables.all(id),
      'ProtectedBranches.all': () => gitlab.ProtectedBranches.all(id),
      'ProtectedBranches.show': () => gitlab.ProtectedBranches.show(id, 'main'),
      'Branches.all': () => gitlab.Branches.all(id),
      'Branches.show': () => gitlab.Branches.show(id, 'feature'),
      'Branches.create': () => gitlab.Branches.create(id, 'made', 'main'),
      'Branches.remove': () => gitlab.Branches.remove(id, 'made'),
      'Tags.create': () => gitlab.Tags.create(id, 'v1', 'main'),
      'Tags.all': () => gitlab.Tags.all(id),
      'Tags.show': () => gitlab.Tags.show(id, 'v1'),
      'Tags.remove': () => gitlab.Tags.remove(id, 'v1'),
      'Commits.all': () => gitlab.Commits.all(id),
      'Commits.show': () => gitlab.Commits.show(id, sha),
      'Commits.showDiff': () => gitlab.Commits.showDiff(id, sha),
      'Commits.allReferences': () => gitlab.Commits.allReferences(id, sha),
      'Commits.allMergeRequests': () => gitlab.Commits.allMergeRequests(id, sha),
      'Commits.allStatuses': () => gitlab.Commits.allStatuses(id, sha),
      'Commits.editStatus': () => gitlab.Commits.editStatus(id, sha, 'success', { name: 'scan' }),
      'Commits.create': () =>
        gitlab.Commits.create(id, 'made-by-api', 'Change [skip ci]', update, { startBranch: 'main' }),
      'Commits.createComment': () => gitlab.Commits.createComment(id, sha, 'text'),
      'Commits.cherryPick': () => gitlab.Commits.cherryPick(id, sha, 'feature'),
      'RepositoryFiles.show': () => gitlab.RepositoryFiles.show(id, 'a.txt', 'main'),
      'RepositoryFiles.showRaw': () => gitlab.RepositoryFiles.showRaw(id, 'a.txt', 'main'),
      'RepositoryFiles.create': () => gitlab.RepositoryFiles.create(id, 'docs/c.txt', 'feature', 'c', 'Add [skip ci]'),
      'RepositoryFiles.edit': () => gitlab.RepositoryFiles.edit(id, 'docs/c.txt', 'feature', 'd', 'Edit [skip ci]'),
      'RepositoryFiles.remove': () => gitlab.RepositoryFiles.remove(id, 'docs/c.txt', 'feature', 'Remove [skip ci]'),
      'RepositoryFiles.allFileBlames': () => gitlab.RepositoryFiles.allFileBlames(id, 'a.txt', 'main'),
      'Repositories.allRepositoryTrees': () => gitlab.Repositories.allRepositoryTrees(id, { recursive: true }),
      'Repositories.compare': () => gitlab.Repositories.compare(id, 'main', 'feature'),
      'Repositories.mergeBase': () => gitlab.Repositories.mergeBase(id, ['main', 'feature']),
      'Repositories.allContributors': () => gitlab.Repositories.allContributors(id),
      'Repositories.showArchive': () => gitlab.Repositories.showArchive(id),
      'Pipelines.all': () => gitlab.Pipelines.all(id),
      'Pipelines.show': () => gitlab.Pipelines.show(id, pipeline),
      'Pipelines.showLatest': () => gitlab.Pipelines.showLatest(id),
      'Pipelines.allVariables': () => gitlab.Pipelines.allVariables(id, pipeline),
      'Pipelines.create': () => gitlab.Pipelines.create(id, 'main', { variables: [{ key: 'LEVEL', value: 'all' }] }),
      'Pipelines.retry': () => gitlab.Pipelines.retry(id, pipeline),
      'Pipelines.cancel': () => gitlab.Pipelines.cancel(id, pipeline),
      'Pipelines.showTestReport': () => gitlab.Pipelines.showTestReport(id, pipeline),
      'Jobs.all': () => gitlab.Jobs.all(id),
      'Jobs.all of a pipeline': () => gitlab.Jobs.all(id, { pipelineId: pipeline }),
      'Jobs.allPipelineBridges': () => gitlab.Jobs.allPipelineBridges(id, pipeline),
      'Jobs.show': () => gitlab.Jobs.show(id, job),
      'Jobs.showLog': () => gitlab.Jobs.showLog(id, job),
      'Jobs.retry': () => gitlab.Jobs.retry(id, job),
      'Jobs.erase': () => gitlab.Jobs.erase(id, job),
      'Environments.all': () => gitlab.Environments.all(id),
      'Environments.show': () => gitlab.Environments.show(id, environment.id),
      'Environments.edit': () => gitlab.Environments.edit(id, environment.id, { externalUrl: 'http://localhost/a' }),
      'Deployments.all': () => gitlab.Deployments.all(id),
      'Deployments.show': () => gitlab.Deployments.show(id, deployment.id),
      'Deployments.edit': () => gitlab.Deployments.edit(id, deployment.id, 'success'),
      'Environments.stop': () => gitlab.Environments.stop(id, environment.id),
      'MergeRequests.all': () => gitlab.MergeRequests.all({ projectId: id }),
      'MergeRequests.show': () => gitlab.MergeRequests.show(id, iid),
      'MergeRequests.edit': () => gitlab.MergeRequests.edit(id, iid, { title: 'Better' }),
      'MergeRequests.allCommits': () => gitlab.MergeRequests.allCommits(id, iid),
      'MergeRequests.allDiffs': () => gitlab.MergeRequests.allDiffs(id, iid),
      'MergeRequests.allPipelines': () => gitlab.MergeRequests.allPipelines(id, iid),
      'MergeRequests.rebase': () => gitlab.MergeRequests.rebase(id, iid),
      'MergeRequestNotes.all': () => gitlab.MergeRequestNotes.all(id, iid),
      'MergeRequestNotes.edit': () => gitlab.MergeRequestNotes.edit(id, iid, note.id, { body: 'more' }),
      'MergeRequestDiscussions.all': () => gitlab.MergeRequestDiscussions.all(id, iid),
      'MergeRequestApprovals.showConfiguration': () => gitlab.MergeRequestApprovals.showConfiguration(id),
      'MergeRequests.merge': () => gitlab.MergeRequests.merge(id, iid),
      'ProjectHooks.all': () => gitlab.ProjectHooks.all(id),
      'ProjectHooks.show': () => gitlab.ProjectHooks.show(id, hook.id),
      'ProjectHooks.edit': () => gitlab.ProjectHooks.edit(id, hook.id, receiverUrl('/events'), { tagPushEvents: true }),
      'ProjectHooks.remove': () => gitlab.ProjectHooks.remove(id, hook.id),
      'ProjectAccessTokens.all': () => gitlab.ProjectAccessTokens.all(id),
      'ProjectAccessTokens.show': () => gitlab.ProjectAccessTokens.show(id, token.id),
      'ProjectAccessTokens.revoke': () => gitlab.ProjectAccessTokens.revoke(id, token.id),
      'Issues.all': () => gitlab.Issues.all({ projectId: id }),
      'ProjectReleases.all': () => gitlab.ProjectReleases.all(id),
      'ProjectLabels.all': () => gitlab.ProjectLabels.all(id),
      'PipelineSchedules.all': () => gitlab.PipelineSchedules.all(id),
      'ContainerRegistry.allRepositories': () => gitlab.ContainerRegistry.allRepositories({ projectId: id } as never),
      'Projects.remove': () => gitlab.Projects.remove(id),
    };
    const missing: string[] = [];
    const wrong: string[] = [];
    for (const [name, call] of Object.entries(calls)) {
      await call().catch((failure) => {
        const { status } = Object(failure).cause?.response ?? {};
        if (status === 501 && /the mock GitLab does not have /.test(String(failure.message))) missing.push(name);
        else wrong.push(`${name}: ${status} ${failure.message}`);
      });
    }
    expect(wrong).toEqual([]);
    expect(missing).toEqual([
      'Commits.allReferences',
      'Commits.createComment',
      'Commits.cherryPick',
      'RepositoryFiles.allFileBlames',
      'Repositories.allContributors',
      'Pipelines.showTestReport',
      'Jobs.erase',
      'MergeRequests.rebase',
      'MergeRequestDiscussions.all',
      'MergeRequestApprovals.showConfiguration',
      'Issues.all',
      'ProjectReleases.all',
      'ProjectLabels.all',
      'PipelineSchedules.all',
      'ContainerRegistry.allRepositories',
    ]);
    expect(Object.keys(calls).length).toBeGreaterThan(57);
  });
});
