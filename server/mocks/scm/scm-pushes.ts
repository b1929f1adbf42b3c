import { reasonOf } from '../../model/errors.ts';
import type { Push, PushedRef } from './git-http.ts';
import { LOCAL_RUN, type MergeRequestOptions, type PushOptions, readPushOptions } from './push-options.ts';
import type { ScmHooks } from './scm-hooks.ts';
import type { RequestedPipeline, ScmPipelines } from './scm-pipelines.ts';
import type { ScmProjects } from './scm-projects.ts';
import { NO_COMMIT, type ScmRepositories } from './scm-repositories.ts';
import { pathWithNamespace, SCM_USER, type ScmProject } from './scm-state.ts';
import type { ScmViews } from './scm-views.ts';

const DEFINITION = '.gitlab-ci.yml';
/** A push of more branches and tags starts no pipelines, as on the real server. */
const MAX_REFS_WITH_PIPELINES = 4;
/** Commits in the event of a push. */
const MAX_EVENT_COMMITS = 20;

export interface PushesOptions {
  projects: ScmProjects;
  repositories: ScmRepositories;
  hooks: ScmHooks;
  views: ScmViews;
  pipelines(): ScmPipelines;
  onFault(fault: unknown): void;
}

/** Applies what follows from a push: the default branch of a new repository, the commits of merge requests, webhooks and pipelines. */
export class ScmPushes {
  readonly #options: PushesOptions;

  constructor(options: PushesOptions) {
    this.#options = options;
  }

  /** Resolves when the records are changed, to the lines that `git push` prints. Pipelines start afterward. */
  readonly pushed = async ({ id }: ScmProject, push: Push): Promise<string[]> => {
    const { projects, repositories, onFault } = this.#options;
    const branches = push.refs.filter((one) => one.ref.startsWith('refs/heads/') && !isRemoval(one));
    const [first] = branches;
    let project = projects.get(String(id));
    const isDefaultThere = await repositories.findCommit(project, `refs/heads/${project.default_branch}`);
    if (first && isDefaultThere === undefined && !push.options.includes(LOCAL_RUN)) {
      // The first branch of a repository becomes its default branch.
      await repositories.text(project, 'symbolic-ref', 'HEAD', first.ref);
      project = await projects.save({ ...projects.get(String(id)), default_branch: nameOf(first) });
    }
    for (const branch of branches) {
      for (const one of projects.get(String(id)).merge_requests) {
        if (one.state === 'opened' && one.source_branch === nameOf(branch))
          await projects.replaceMergeRequest(projects.get(String(id)), { ...one, sha: branch.after });
      }
    }
    const options = readPushOptions(push.options);
    const warnings =
      options.unsupported.length > 0 ? [`Push options without effect here: ${options.unsupported.join(', ')}`] : [];
    const links: string[] = [];
    for (const branch of branches) {
      const found = await this.#mergeRequestOf(projects.get(String(id)), branch, options.mergeRequest).catch(reasonOf);
      if (typeof found === 'string') warnings.push(found);
      else if (found) links.push(`View merge request for ${nameOf(branch)}:`, `  ${found.web_url}`);
    }
    const follow = push.refs.map(async (one) => {
      try {
        await this.#notify(project, one);
        const isSkipped = options.skipsPipelines || push.refs.length > MAX_REFS_WITH_PIPELINES;
        if (!isSkipped && !isRemoval(one)) await this.#startPipeline(project, one, options);
      } catch (failure) {
        // The repository was removed meanwhile.
        const commit = await repositories.findCommit(project, one.after).catch(() => undefined);
        if (commit !== undefined) throw failure;
      }
    });
    void Promise.all(follow).catch(onFault);
    return [...(warnings.length > 0 ? ['WARNINGS:', ...warnings] : []), ...links];
  };

  /** The open merge request of a branch, created or changed as the push asks. Throws, with the reason, if that is not possible. */
  async #mergeRequestOf(project: ScmProject, branch: PushedRef, asked: MergeRequestOptions | undefined) {
    const { projects, repositories, views } = this.#options;
    const source_branch = nameOf(branch);
    const open = project.merge_requests.find(
      (one) =>
        one.state === 'opened' &&
        one.source_branch === source_branch &&
        (!asked?.isCreated || asked.target === undefined || one.target_branch === asked.target),
    );
    if (!asked) return open && views.mergeRequest(project, open);
    if (!open && !asked.isCreated)
      throw new Error(`A merge_request.create push option is required to create a merge request for ${source_branch}`);
    const { target: target_branch = open?.target_branch ?? project.default_branch } = asked;
    if (target_branch === source_branch) throw new Error(`A merge request needs another branch than ${source_branch}`);
    if ((await repositories.findCommit(project, `refs/heads/${target_branch}`)) === undefined)
      throw new Error(`Target branch ${target_branch} does not exist`);
    const labels = [...new Set([...(open?.labels ?? []), ...asked.added])];
    const written = asked.title ?? open?.title ?? (await this.#titleFor(project, branch, target_branch));
    const values = {
      source_branch,
      target_branch,
      title: asked.isDraft && !/^draft:/i.test(written) ? `Draft: ${written}` : written,
      description: asked.description ?? open?.description ?? '',
      sha: branch.after,
      labels: labels.filter((one) => !asked.removed.includes(one)),
      ...(asked.removesSourceBranch && { force_remove_source_branch: true }),
    };
    const done = open
      ? await projects.replaceMergeRequest(project, { ...open, ...values })
      : await projects.createMergeRequest(project, values);
    return views.mergeRequest(project, done);
  }

  /** As on the real server: the title of the only commit, or else the name of the branch. */
  async #titleFor(project: ScmProject, branch: PushedRef, target: string): Promise<string> {
    const range = `refs/heads/${target}..${branch.after}`;
    const [commit, ...others] = await this.#options.repositories.commits(project, '--max-count=2', range);
    if (commit && others.length === 0) return commit.message.split('\n', 1)[0] ?? '';
    const name = nameOf(branch).replaceAll(/[-_]/g, ' ');
    return name.charAt(0).toUpperCase() + name.slice(1);
  }

  async #notify(project: ScmProject, { ref, before, after }: PushedRef): Promise<void> {
    const { repositories, hooks, views } = this.#options;
    if (!project.hooks?.length) return;
    const isTag = ref.startsWith('refs/tags/');
    const range = before === NO_COMMIT ? [after] : [`${before}..${after}`];
    const commits =
      after === NO_COMMIT ? [] : await repositories.commits(project, `--max-count=${MAX_EVENT_COMMITS}`, ...range);
    const kind = isTag ? 'tag_push' : 'push';
    hooks.send(project, kind, {
      object_kind: kind,
      event_name: kind,
      before,
      after,
      ref,
      ref_protected: nameOf({ ref }) === project.default_branch,
      checkout_sha: after === NO_COMMIT ? null : after,
      user_id: SCM_USER.id,
      user_name: SCM_USER.name,
      user_username: SCM_USER.username,
      project_id: project.id,
      project: views.inHook(project),
      commits: commits.reverse().map((one) => {
        const { id, title, message, web_url: url } = views.commit(project, one);
        const author = { name: one.author_name, email: one.author_email };
        return { id, title, message, timestamp: one.committed_date, url, author };
      }),
      total_commits_count: commits.length,
    });
  }

  async #startPipeline(
    project: ScmProject,
    { ref, before, after }: PushedRef,
    { variables }: PushOptions,
  ): Promise<void> {
    const { repositories, pipelines, projects } = this.#options;
    // An annotated tag is an object of its own.
    const commit = await repositories.commit(project, after);
    const isDefined = (await repositories.text(project, 'ls-tree', commit.id, '--', DEFINITION)) !== '';
    if (!isDefined || /\[(?:ci skip|skip ci)\]/i.test(commit.message)) return;
    const name = nameOf({ ref });
    const isTag = ref.startsWith('refs/tags/');
    const hasMergeRequest = projects
      .get(String(project.id))
      .merge_requests.some((one) => one.state === 'opened' && one.source_branch === name);
    const asked: RequestedPipeline = {
      project,
      dir: await repositories.dirOf(project),
      ref: name,
      isTag,
      sha: commit.id,
      beforeSha: before,
      source: !isTag && hasMergeRequest ? undefined : 'push',
      variables,
    };
    await pipelines()
      .start(asked)
      .catch((failure) => pipelines().fail(asked, `${pathWithNamespace(project)}: ${reasonOf(failure)}`));
  }
}

const isRemoval = ({ after }: PushedRef) => after === NO_COMMIT;
const nameOf = ({ ref }: Pick<PushedRef, 'ref'>) => ref.split('/').slice(2).join('/');
