import { pipelineNumber } from '../../mocks/scm/scm-pipelines.ts';
import { SYSTEM } from '../../system/this-system.ts';
import type { Checkout } from './checkout.ts';
import type { PipelineSource } from './rules.ts';
import type { ScmMergeRequestRecord, ScmProjectRecord } from './scm-client.ts';

export const NO_COMMIT = '0'.repeat(40);

export interface RunIdentity {
  runId: string;
  source: PipelineSource;
  /** The branch, or the tag. */
  branch: string;
  isTag: boolean;
  beforeSha?: string | undefined;
  checkout: Pick<Checkout, 'sha' | 'commit' | 'baseSha'>;
  project: ScmProjectRecord;
  mergeRequest: ScmMergeRequestRecord | undefined;
  /** The address of the source-control server, without a slash at its end. */
  scmUrl: string;
  jobToken: string;
  createdAt: string;
  /** Is the pipeline of the branch that is protected? */
  isProtected: boolean;
}

const MAX_SLUG = 63;
/** The names that GitLab's runner has for processors, where Node.js has others. */
const GO_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** A branch as it may stand in host names: `CI_COMMIT_REF_SLUG`. */
export function refSlug(ref: string): string {
  return ref
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, '');
}

/** The server's own variables of a pipeline, with the values of the mock that runs here. */
export function predefinedVariables(run: RunIdentity): Record<string, string> {
  return {
    ...projectVariables(run),
    ...commitVariables(run),
    ...mergeRequestVariables(run),
    CI_PIPELINE_ID: String(pipelineNumber({ id: run.runId })),
    // Replaced when the run has its number within the project.
    CI_PIPELINE_IID: '1',
    CI_PIPELINE_SOURCE: run.source,
    CI_PIPELINE_URL: `${run.project.web_url}/-/pipelines/${pipelineNumber({ id: run.runId })}`,
    CI_PIPELINE_CREATED_AT: run.createdAt,
  };
}

function projectVariables({ project, scmUrl, jobToken }: RunIdentity) {
  const { hostname, port, protocol, host } = new URL(scmUrl);
  const { path_with_namespace: path } = project;
  const namespace = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  return {
    CI: 'true',
    GITLAB_CI: 'true',
    TERRARIUM: 'true',
    GITLAB_USER_ID: '1',
    GITLAB_USER_LOGIN: 'terrarium',
    GITLAB_USER_NAME: 'Terrarium',
    GITLAB_USER_EMAIL: 'terrarium@terrarium.invalid',
    GITLAB_FEATURES: '',
    CI_SERVER: 'yes',
    CI_SERVER_NAME: 'GitLab',
    CI_SERVER_VERSION: '17.11.0',
    CI_SERVER_VERSION_MAJOR: '17',
    CI_SERVER_VERSION_MINOR: '11',
    CI_SERVER_VERSION_PATCH: '0',
    CI_SERVER_REVISION: 'terrarium',
    CI_SERVER_URL: scmUrl,
    CI_SERVER_HOST: hostname,
    CI_SERVER_PORT: port,
    CI_SERVER_FQDN: host,
    CI_SERVER_PROTOCOL: protocol.slice(0, -1),
    CI_API_V4_URL: `${scmUrl}/api/v4`,
    CI_RUNNER_ID: '1',
    CI_RUNNER_DESCRIPTION: 'terrarium',
    CI_RUNNER_EXECUTABLE_ARCH: `${SYSTEM}/${GO_ARCHITECTURES[process.arch] ?? process.arch}`,
    CI_RUNNER_TAGS: '[]',
    CI_RUNNER_VERSION: '17.11.0',
    CI_PROJECT_ID: String(project.id),
    CI_PROJECT_NAME: path.slice(path.lastIndexOf('/') + 1),
    CI_PROJECT_TITLE: project.name,
    CI_PROJECT_PATH: path,
    CI_PROJECT_PATH_SLUG: refSlug(path),
    CI_PROJECT_NAMESPACE: namespace,
    CI_PROJECT_NAMESPACE_SLUG: refSlug(namespace),
    CI_PROJECT_ROOT_NAMESPACE: namespace.split('/')[0] ?? '',
    CI_PROJECT_URL: project.web_url,
    CI_PROJECT_VISIBILITY: 'private',
    CI_PROJECT_DESCRIPTION: typeof project.description === 'string' ? project.description : '',
    CI_PROJECT_REPOSITORY_LANGUAGES: '',
    CI_DEFAULT_BRANCH: project.default_branch,
    CI_DEFAULT_BRANCH_SLUG: refSlug(project.default_branch),
    CI_CONFIG_PATH: '.gitlab-ci.yml',
    CI_REPOSITORY_URL: `${protocol}//gitlab-ci-token:${jobToken}@${host}/${path}.git`,
    // Port of the mock GitLab's registry: images that are pushed there stay on this machine.
    CI_REGISTRY: host,
    CI_REGISTRY_IMAGE: `${host}/${path.toLowerCase()}`,
    CI_REGISTRY_USER: 'gitlab-ci-token',
    CI_REGISTRY_PASSWORD: jobToken,
    CI_JOB_TOKEN: jobToken,
    CI_DEPENDENCY_PROXY_SERVER: host,
    CI_DEPENDENCY_PROXY_USER: 'gitlab-ci-token',
    CI_DEPENDENCY_PROXY_PASSWORD: jobToken,
    // Its images are those of Docker Hub, which engines have or pull themselves.
    CI_DEPENDENCY_PROXY_GROUP_IMAGE_PREFIX: 'docker.io',
    CI_DEPENDENCY_PROXY_DIRECT_GROUP_IMAGE_PREFIX: 'docker.io',
  };
}

function commitVariables({ checkout, source, branch, isTag, beforeSha, isProtected }: RunIdentity) {
  const [title = '', ...description] = checkout.commit.message.split('\n');
  const isOfBranch = !isTag && source !== 'merge_request_event';
  return {
    CI_COMMIT_SHA: checkout.sha,
    CI_COMMIT_SHORT_SHA: checkout.sha.slice(0, 8),
    CI_COMMIT_BEFORE_SHA: source === 'push' && !isTag ? (beforeSha ?? NO_COMMIT) : NO_COMMIT,
    CI_COMMIT_REF_NAME: branch,
    CI_COMMIT_REF_SLUG: refSlug(branch),
    CI_COMMIT_REF_PROTECTED: String(isProtected),
    CI_COMMIT_TITLE: title,
    CI_COMMIT_MESSAGE: checkout.commit.message,
    CI_COMMIT_DESCRIPTION: description.join('\n').trim(),
    CI_COMMIT_TIMESTAMP: checkout.commit.timestamp,
    CI_COMMIT_AUTHOR: checkout.commit.author,
    ...(isTag && { CI_COMMIT_TAG: branch, CI_COMMIT_TAG_MESSAGE: checkout.commit.tagMessage ?? '' }),
    ...(isOfBranch && { CI_COMMIT_BRANCH: branch }),
  };
}

function mergeRequestVariables({ mergeRequest, project, source, checkout, branch, isProtected }: RunIdentity) {
  if (!mergeRequest) return {};
  const { path_with_namespace: path } = project;
  return {
    CI_OPEN_MERGE_REQUESTS: `${path}!${mergeRequest.iid}`,
    ...(source === 'merge_request_event' && {
      CI_MERGE_REQUEST_ID: String(mergeRequest.id),
      CI_MERGE_REQUEST_IID: String(mergeRequest.iid),
      CI_MERGE_REQUEST_TITLE: mergeRequest.title,
      CI_MERGE_REQUEST_DESCRIPTION: typeof mergeRequest.description === 'string' ? mergeRequest.description : '',
      CI_MERGE_REQUEST_DRAFT: String(/^\s*(?:draft:|\[draft\]|\(draft\))/i.test(mergeRequest.title)),
      CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
      CI_MERGE_REQUEST_REF_PATH: `refs/merge-requests/${mergeRequest.iid}/head`,
      CI_MERGE_REQUEST_PROJECT_ID: String(project.id),
      CI_MERGE_REQUEST_PROJECT_PATH: path,
      CI_MERGE_REQUEST_PROJECT_URL: project.web_url,
      CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: branch,
      CI_MERGE_REQUEST_SOURCE_BRANCH_PROTECTED: String(isProtected),
      CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: '',
      CI_MERGE_REQUEST_SOURCE_PROJECT_ID: String(project.id),
      CI_MERGE_REQUEST_SOURCE_PROJECT_PATH: path,
      CI_MERGE_REQUEST_SOURCE_PROJECT_URL: project.web_url,
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: mergeRequest.target_branch,
      CI_MERGE_REQUEST_TARGET_BRANCH_PROTECTED: 'true',
      CI_MERGE_REQUEST_TARGET_BRANCH_SHA: '',
      CI_MERGE_REQUEST_DIFF_ID: '1',
      CI_MERGE_REQUEST_DIFF_BASE_SHA: checkout.baseSha ?? '',
    }),
  };
}
