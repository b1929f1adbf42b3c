import {
  pathWithNamespace,
  SCM_USER,
  type ScmCommitStatus,
  type ScmEnvironment,
  type ScmMergeRequest,
  type ScmNote,
  type ScmProject,
  type ScmUser,
} from './scm-state.ts';

/** Records as the API shows them. */
export class ScmViews {
  readonly #baseUrl: () => string;

  /** @param baseUrl where the stand-in listens, without a slash at its end */
  constructor(baseUrl: () => string) {
    this.#baseUrl = baseUrl;
  }

  project(project: ScmProject) {
    const full = pathWithNamespace(project);
    const api = `${this.#baseUrl()}/api/v4/projects/${project.id}`;
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
      ssh_url_to_repo: `git@${new URL(this.#baseUrl()).hostname}:${full}.git`,
      http_url_to_repo: `${this.#baseUrl()}/${full}.git`,
      web_url: `${this.#baseUrl()}/${full}`,
      readme_url: null,
      avatar_url: null,
      forks_count: 0,
      star_count: 0,
      last_activity_at: created_at,
      namespace: { id: 1, name: namespace, path: namespace, kind: 'group', full_path: namespace, parent_id: null },
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

  user({ id, username, name }: ScmUser) {
    return { id, username, name, state: 'active', avatar_url: null, web_url: `${this.#baseUrl()}/${username}` };
  }

  mergeRequest(project: ScmProject, mergeRequest: ScmMergeRequest) {
    const { notes, author, ...shown } = mergeRequest;
    const full = pathWithNamespace(project);
    return {
      ...shown,
      project_id: project.id,
      source_project_id: project.id,
      target_project_id: project.id,
      author: this.user(author),
      assignees: [],
      reviewers: [],
      labels: [],
      draft: /^draft:/i.test(shown.title),
      work_in_progress: /^draft:/i.test(shown.title),
      merge_status: 'can_be_merged',
      detailed_merge_status: 'mergeable',
      user_notes_count: notes.length,
      upvotes: 0,
      downvotes: 0,
      reference: `!${shown.iid}`,
      references: { short: `!${shown.iid}`, relative: `!${shown.iid}`, full: `${full}!${shown.iid}` },
      web_url: `${this.#baseUrl()}/${full}/-/merge_requests/${shown.iid}`,
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
}
