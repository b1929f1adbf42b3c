import { expect, it } from 'vitest';
import { isTrue } from './expression.ts';
import { expandText } from './job-variables.ts';
import { predefinedVariables, type RunIdentity } from './predefined.ts';
import type { PipelineSource } from './rules.ts';

const mergeRequest = { id: 5, iid: 5, title: '', target_branch: 'main', web_url: '' };
const variablesOf = (source: PipelineSource, more: Partial<RunIdentity> = {}) =>
  predefinedVariables({
    runId: 'a',
    source,
    branch: 'a',
    isTag: false,
    checkout: { sha: '1', baseSha: undefined, commit: { message: '', timestamp: '', author: '' } },
    project: { id: 1, name: 'a', path_with_namespace: 'a/a', default_branch: 'main', web_url: '' },
    mergeRequest,
    scmUrl: 'http://127.0.0.1:1',
    jobToken: 'secret',
    createdAt: '',
    isProtected: false,
    ...more,
  });

it('what GitLab sets only where it applies is not set, because rules ask whether it is there', () => {
  const variables = variablesOf('merge_request_event');
  expect(variables.CI_MERGE_REQUEST_IID).toBe('5');
  expect(variables.CI_MERGE_REQUEST_DRAFT).toBe('false');
  const draft = { mergeRequest: { ...mergeRequest, title: 'Draft: ferns' } };
  expect(variablesOf('merge_request_event', draft).CI_MERGE_REQUEST_DRAFT).toBe('true');
  for (const name of ['CI_PIPELINE_TRIGGERED', 'CI_MERGE_REQUEST_LABELS', 'CI_MERGE_REQUEST_MILESTONE'])
    expect(isTrue(`$${name} == null`, variables), name).toBe(true);
});

it("the runner's processor has the name that GitLab's runner gives it", () => {
  expect(variablesOf('push').CI_RUNNER_EXECUTABLE_ARCH).toMatch(/^\w+\/(?!x64|ia32)\w+$/);
});

it.each<[string, PipelineSource, Partial<RunIdentity>, string]>([
  ['of a push: the commit that the branch had', 'push', { beforeSha: '2' }, '2'],
  ['of a push of a new branch', 'push', {}, '0'.repeat(40)],
  ['of a tag', 'push', { beforeSha: '2', isTag: true }, '0'.repeat(40)],
  ['of a merge request', 'merge_request_event', { beforeSha: '2' }, '0'.repeat(40)],
  ['that a user started', 'web', { beforeSha: '2' }, '0'.repeat(40)],
  ['that a schedule started', 'schedule', { beforeSha: '2' }, '0'.repeat(40)],
])('"Predefined variables": CI_COMMIT_BEFORE_SHA in a pipeline %s', (_what, source, more, before) => {
  expect(variablesOf(source, more).CI_COMMIT_BEFORE_SHA).toBe(before);
});

it('images of the dependency proxy are those of Docker Hub, and its password is masked with the token of the job', () => {
  const variables = variablesOf('push');
  expect(expandText('$CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX/node:20', variables)).toBe('docker.io/node:20');
  expect(variables).toMatchObject({ CI_DEPENDENCY_PROXY_PASSWORD: 'secret', CI_JOB_TOKEN: 'secret' });
});
