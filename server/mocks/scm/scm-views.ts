import { hasEnded, type PipelineJob } from '../../model/pipeline-run.ts';
import { jobNumber, type ListedRun, pipelineNumber } from './scm-pipelines.ts';
import type { ScmCommit } from './scm-repositories.ts';
import {
  groupIdOf,
  pathWithNamespace,
  SCM_USER,
  type ScmCommitStatus,
  type ScmEnvironment,
  type ScmGroup,
  type ScmMergeRequest,
  type ScmNote,
  type ScmProject,
  type ScmUser,
} from './scm-state.ts';

const SECONDS = 1_000;

const timeOf = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());

export class ScmViews {
  readonly baseUrl: () => string;

  /** @param baseUrl address of the mock without a trailing slash */
  constructor(baseUrl: () => string) {
    this.baseUrl = baseUrl;
  }

  project(project: ScmProject) {
    const full = pathWithNamespace(project);
    const api = `${this.baseUrl()}/api/v4/projects/${project.id}`;
    const { id, name, path, namespace, description, default_branch, created_at } = project;
    return {
      id,
      description,
      name,
      name_with_namespace: `${namespace} / ${name}`,
      path,
      path_with_namespace: full,
      created_at,
      default_branch,
      tag_list: [],
      topics: [],
      ssh_url_to_repo: `git@${new URL(this.baseUrl()).hostname}:${full}.git`,
      http_url_to_repo: `${this.baseUrl()}/${full}.git`,
      web_url: `${this.baseUrl()}/${full}`,
      readme_url: null,
      avatar_url: null,
      forks_count: 0,
      star_count: 0,
      last_activity_at: created_at,
      namespace: { ...this.#namespace(namespace), kind: 'group' },
      _links: {
        self: api,
        issues: `${api}/issues`,
        merge_requests: `${api}/merge_requests`,
        repo_branches: `${api}/repository/branches`,
        labels: `${api}/labels`,
        events: `${api}/events`,
        members: `${api}/members`,
      },
      visibility: 'private',
      archived: false,
    };
  }

  inHook(project: ScmProject) {
    const { name, description, namespace, default_branch } = project;
    const { id, web_url, http_url_to_repo: git_http_url, path_with_namespace } = this.project(project);
    const url = { web_url, homepage: web_url, url: git_http_url, git_http_url, http_url: git_http_url };
    return { id, name, description, ...url, namespace, visibility_level: 0, path_with_namespace, default_branch };
  }

  commit(project: ScmProject, { message, ...commit }: ScmCommit) {
    return {
      ...commit,
      short_id: commit.id.slice(0, 8),
      title: message.split('\n')[0] ?? '',
      message,
      created_at: commit.committed_date,
      trailers: {},
      web_url: `${this.project(project).web_url}/-/commit/${commit.id}`,
    };
  }

  group({ path }: ScmGroup) {
    const full_name = path.replaceAll('/', ' / ');
    return { ...this.#namespace(path), full_name, visibility: 'private', web_url: `${this.baseUrl()}/${path}` };
  }

  #namespace(path: string) {
    const slash = path.lastIndexOf('/');
    const name = path.slice(slash + 1);
    const parent_id = slash < 0 ? null : groupIdOf(path.slice(0, slash));
    return { id: groupIdOf(path), name, path: name, full_path: path, parent_id };
  }

  user({ id, username, name }: ScmUser) {
    return { id, username, name, state: 'active', avatar_url: null, web_url: `${this.baseUrl()}/${username}` };
  }

  mergeRequest(project: ScmProject, mergeRequest: ScmMergeRequest) {
    const { notes, author, ...members } = mergeRequest;
    const full = pathWithNamespace(project);
    return {
      ...members,
      project_id: project.id,
      source_project_id: project.id,
      target_project_id: project.id,
      author: this.user(author),
      assignees: [],
      reviewers: [],
      labels: members.labels ?? [],
      draft: /^draft:/i.test(members.title),
      work_in_progress: /^draft:/i.test(members.title),
      merge_status: 'can_be_merged',
      detailed_merge_status: 'mergeable',
      user_notes_count: notes.length,
      upvotes: 0,
      downvotes: 0,
      reference: `!${members.iid}`,
      references: { short: `!${members.iid}`, relative: `!${members.iid}`, full: `${full}!${members.iid}` },
      web_url: `${this.baseUrl()}/${full}/-/merge_requests/${members.iid}`,
      has_conflicts: false,
    };
  }

  note(project: ScmProject, mergeRequest: ScmMergeRequest, note: ScmNote) {
    return {
      ...note,
      type: null,
      attachment: null,
      author: this.user(note.author),
      system: false,
      noteable_id: mergeRequest.id,
      noteable_type: 'MergeRequest',
      noteable_iid: mergeRequest.iid,
      project_id: project.id,
      resolvable: false,
      confidential: false,
      internal: false,
    };
  }

  environment(environment: ScmEnvironment) {
    return { ...environment, tier: 'development', last_deployment: null };
  }

  status(status: ScmCommitStatus) {
    return {
      ...status,
      author: this.user(SCM_USER),
      allow_failure: false,
      coverage: null,
      started_at: null,
      finished_at: null,
    };
  }

  pipeline(run: ListedRun) {
    const { project, startedAtMs, finishedAtMs, iid } = run;
    const id = pipelineNumber(run);
    return {
      id,
      iid: iid ?? id,
      project_id: project.id,
      name: null,
      sha: run.sha,
      before_sha: '0'.repeat(40),
      ref:
        run.source === 'merge_request_event' && run.mergeRequest
          ? `refs/merge-requests/${run.mergeRequest.iid}/head`
          : run.branch,
      tag: run.isTag === true,
      status: run.state,
      source: run.source ?? 'push',
      yaml_errors: null,
      user: SCM_USER,
      created_at: timeOf(startedAtMs),
      started_at: timeOf(startedAtMs),
      updated_at: timeOf(finishedAtMs ?? startedAtMs),
      finished_at: timeOf(finishedAtMs),
      committed_at: null,
      duration: finishedAtMs === undefined ? null : Math.round((finishedAtMs - startedAtMs) / SECONDS),
      queued_duration: 0,
      coverage: null,
      web_url: `${this.baseUrl()}/${project.path}/-/pipelines/${id}`,
    };
  }

  job(run: ListedRun, job: PipelineJob) {
    const { id, project_id, ref, sha, status, web_url } = this.pipeline(run);
    const number = jobNumber(run.id, job.name);
    const { startedAtMs, durationMs } = job;
    return {
      id: number,
      name: job.name,
      stage: job.stage,
      status: job.state === 'waiting' ? 'created' : job.state,
      ref,
      tag: run.isTag === true,
      allow_failure: job.mayFail === true,
      coverage: job.coverage ?? null,
      created_at: timeOf(run.startedAtMs),
      started_at: timeOf(startedAtMs),
      finished_at: hasEnded(job) && startedAtMs !== undefined ? timeOf(startedAtMs + (durationMs ?? 0)) : null,
      duration: durationMs === undefined ? null : durationMs / SECONDS,
      queued_duration: null,
      failure_reason: job.state === 'failed' ? 'script_failure' : null,
      user: SCM_USER,
      commit: { id: run.sha, short_id: run.sha.slice(0, 8) },
      pipeline: { id, project_id, ref, sha, status, web_url },
      project: { ci_job_token_scope_enabled: false },
      runner: null,
      artifacts: [],
      artifacts_expire_at: null,
      tag_list: [],
      web_url: `${this.baseUrl()}/${run.project.path}/-/jobs/${number}`,
    };
  }

  /** The reported statuses of commits, then the jobs as they are now. @param runs newest first */
  commitStatuses(reported: readonly ScmCommitStatus[], runs: readonly ListedRun[]) {
    const jobs = runs.flatMap((run) =>
      run.jobs.map((job) => {
        const { pipeline, web_url: target_url, ...statusMembers } = this.job(run, job);
        const { id, name, status, ref, allow_failure, coverage, created_at, started_at, finished_at } = statusMembers;
        const times = { created_at, started_at, finished_at };
        const more = { sha: run.sha, target_url, description: null, author: SCM_USER, pipeline_id: pipeline.id };
        return { id, name, status, ref, allow_failure, coverage, ...times, ...more };
      }),
    );
    return [...reported.map((status) => this.status(status)), ...jobs];
  }
}

/** Returns a test that is true for the first status of each commit and name. */
export function isNewestStatus() {
  const visited = new Set<string>();
  return ({ sha, name }: { sha: string; name: string }) => visited.size < visited.add(`${sha} ${name}`).size;
}
