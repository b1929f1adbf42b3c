import { reasonOf } from '../../model/errors.ts';
import type { RequestedPipeline } from './scm-pipelines.ts';
import { openMergeRequest } from './scm-projects.ts';
import { NO_COMMIT } from './scm-repositories.ts';
import type { ScmParts } from './scm-request.ts';
import { pathWithNamespace, SCM_USER, type ScmProject } from './scm-state.ts';
import type { Push, PushedRef } from './serve-git.ts';

/** Option of the push of a commit whose pipeline runs locally. */
const LOCAL_RUN = 'terrarium.local-run';

const DEFINITION = '.gitlab-ci.yml';
/** A push of more branches and tags starts no pipelines, as on the real server. */
const MAX_REFS_WITH_PIPELINES = 4;
const MAX_EVENT_COMMITS = 20;

/**
 * Applies what follows from a push: the default branch of a new repository, the commits of merge requests, webhooks and pipelines. Resolves
 * when the records are changed, to the lines that `git push` prints. Pipelines start afterward.
 */
export async function applyPush(parts: ScmParts, { id }: ScmProject, push: Push): Promise<string[]> {
  const { projects, repositories, views, onFault } = parts;
  const branches = push.refs.filter((pushedRef) => pushedRef.ref.startsWith('refs/heads/') && !isRemoval(pushedRef));
  const [first] = branches;
  const current = () => projects.get(String(id));
  let project = current();
  const isDefaultThere = await repositories.findCommit(project, `refs/heads/${project.default_branch}`);
  if (first && isDefaultThere === undefined && !push.options.includes(LOCAL_RUN)) {
    // The first branch of a repository becomes its default branch.
    await repositories.text(project, 'symbolic-ref', 'HEAD', first.ref);
    project = await projects.save({ ...current(), default_branch: nameOf(first) });
  }
  for (const branch of branches) {
    for (const mergeRequest of current().merge_requests) {
      if (mergeRequest.state === 'opened' && mergeRequest.source_branch === nameOf(branch))
        await projects.replaceMergeRequest(current(), { ...mergeRequest, sha: branch.after });
    }
  }
  const options = readPushOptions(push.options);
  const warnings =
    options.unsupported.length > 0 ? [`Push options without effect here: ${options.unsupported.join(', ')}`] : [];
  const links: string[] = [];
  for (const branch of branches) {
    const found = await mergeRequestOf(parts, current(), branch, options.mergeRequest).catch(reasonOf);
    if (typeof found === 'string') warnings.push(found);
    else if (found)
      links.push(`View merge request for ${nameOf(branch)}:`, `  ${views.mergeRequest(project, found).web_url}`);
  }
  const follow = push.refs.map(async (pushedRef) => {
    try {
      await notify(parts, project, pushedRef);
      const isSkipped = options.skipsPipelines || push.refs.length > MAX_REFS_WITH_PIPELINES;
      if (!isSkipped && !isRemoval(pushedRef)) await startPipeline(parts, project, pushedRef, options);
    } catch (failure) {
      // The repository was removed meanwhile.
      const commit = await repositories.findCommit(project, pushedRef.after).catch(() => undefined);
      if (commit !== undefined) throw failure;
    }
  });
  void Promise.all(follow).catch(onFault);
  return [...(warnings.length > 0 ? ['WARNINGS:', ...warnings] : []), ...links];
}

/** The open merge request of a branch, created or changed as the push asks. Throws, with the reason, if that is not possible. */
async function mergeRequestOf(
  parts: ScmParts,
  project: ScmProject,
  branch: PushedRef,
  options: MergeRequestOptions | undefined,
) {
  const { projects, repositories } = parts;
  const source_branch = nameOf(branch);
  const isCreated = options?.has('create') === true;
  const last = (name: string) => options?.get(name)?.at(-1);
  const open = openMergeRequest(project, source_branch, isCreated ? last('target') : undefined);
  if (!options) return open;
  if (!open && !isCreated)
    throw new Error(`A merge_request.create push option is required to create a merge request for ${source_branch}`);
  const target_branch = last('target') ?? open?.target_branch ?? project.default_branch;
  if (target_branch === source_branch) throw new Error(`A merge request needs another branch than ${source_branch}`);
  if ((await repositories.findCommit(project, `refs/heads/${target_branch}`)) === undefined)
    throw new Error(`Target branch ${target_branch} does not exist`);
  const labels = [...new Set([...(open?.labels ?? []), ...(options.get('label') ?? [])])];
  const written = last('title') ?? open?.title ?? (await titleFor(parts, project, branch, target_branch));
  const values = {
    source_branch,
    target_branch,
    title: options.has('draft') && !/^draft:/i.test(written) ? `Draft: ${written}` : written,
    description: last('description') ?? open?.description ?? '',
    sha: branch.after,
    labels: labels.filter((label) => !options.get('unlabel')?.includes(label)),
    ...(options.has('remove_source_branch') && { force_remove_source_branch: true }),
  };
  return open
    ? projects.replaceMergeRequest(project, { ...open, ...values })
    : projects.createMergeRequest(project, values);
}

/** As on the real server: the title of the only commit, or else the name of the branch. */
async function titleFor({ repositories }: ScmParts, project: ScmProject, branch: PushedRef, target: string) {
  const range = `refs/heads/${target}..${branch.after}`;
  const [commit, ...otherCommits] = await repositories.commits(project, '--max-count=2', range);
  if (commit && otherCommits.length === 0) return commit.message.split('\n', 1)[0] ?? '';
  const name = nameOf(branch).replaceAll(/[-_]/g, ' ');
  return name.charAt(0).toUpperCase() + name.slice(1);
}

async function notify(
  { repositories, hooks, views }: ScmParts,
  project: ScmProject,
  { ref, before, after }: PushedRef,
): Promise<void> {
  if (!project.hooks?.length) return;
  const range = before === NO_COMMIT ? [after] : [`${before}..${after}`];
  const commits =
    after === NO_COMMIT ? [] : await repositories.commits(project, `--max-count=${MAX_EVENT_COMMITS}`, ...range);
  const kind = isTag(ref) ? 'tag_push' : 'push';
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
    commits: commits.reverse().map((commit) => {
      const { id, title, message, web_url: url } = views.commit(project, commit);
      const author = { name: commit.author_name, email: commit.author_email };
      return { id, title, message, timestamp: commit.committed_date, url, author };
    }),
    total_commits_count: commits.length,
  });
}

async function startPipeline(
  { projects, repositories, pipelines }: ScmParts,
  project: ScmProject,
  { ref, before, after }: PushedRef,
  { variables }: PushOptions,
): Promise<void> {
  // An annotated tag is an object of its own.
  const commit = await repositories.commit(project, after);
  const isDefined = (await repositories.text(project, 'ls-tree', commit.id, '--', DEFINITION)) !== '';
  if (!isDefined || /\[(?:ci skip|skip ci)\]/i.test(commit.message)) return;
  const name = nameOf({ ref });
  const request: RequestedPipeline = {
    project,
    dir: await repositories.dirOf(project),
    ref: name,
    isTag: isTag(ref),
    sha: commit.id,
    beforeSha: before,
    source: !isTag(ref) && openMergeRequest(projects.get(String(project.id)), name) ? undefined : 'push',
    variables,
  };
  await pipelines()
    .start(request)
    .catch((failure) => pipelines().fail(request, `${pathWithNamespace(project)}: ${reasonOf(failure)}`));
}

const isRemoval = ({ after }: PushedRef) => after === NO_COMMIT;
const isTag = (ref: string) => ref.startsWith('refs/tags/');
const nameOf = ({ ref }: Pick<PushedRef, 'ref'>) => ref.split('/').slice(2).join('/');

interface PushOptions {
  skipsPipelines: boolean;
  variables: Record<string, string>;
  /** Undefined: nothing about merge requests. */
  mergeRequest: MergeRequestOptions | undefined;
  /** Names of options that have no effect. */
  unsupported: string[];
}

/** The values of each option, in their order. */
type MergeRequestOptions = ReadonlyMap<string, readonly string[]>;

const MERGE_REQUEST_OPTION =
  /^(?:merge_request|mr)\.(create|draft|target|title|description|remove_source_branch|label|unlabel)$/;

/** Reads options as `git push -o` sends them: `NAME` or `NAME=VALUE`. */
function readPushOptions(options: readonly string[]): PushOptions {
  const mergeRequest = new Map<string, string[]>();
  const read: PushOptions = { skipsPipelines: false, variables: {}, mergeRequest: undefined, unsupported: [] };
  for (const option of options) {
    const [, name = option, value = ''] = /^([^=]*)=(.*)$/s.exec(option) ?? [];
    // `mr` is the short name, as on the real server.
    const [, ofMergeRequest] = MERGE_REQUEST_OPTION.exec(name) ?? [];
    const [, key, text = ''] = /^ci\.variable="?(\w+)=(.*?)"?$/s.exec(option) ?? [];
    if (ofMergeRequest !== undefined)
      read.mergeRequest = mergeRequest.set(ofMergeRequest, [...(mergeRequest.get(ofMergeRequest) ?? []), value]);
    else if (option === 'ci.skip') read.skipsPipelines = true;
    else if (key !== undefined) read.variables[key] = text;
    else if (option !== LOCAL_RUN) read.unsupported.push(name);
  }
  return read;
}
