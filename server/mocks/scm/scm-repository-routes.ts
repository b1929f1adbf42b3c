import { applyPush } from './apply-push.ts';
import { invalidValue, missing, notFound, ScmError } from './scm-error.ts';
import { type FileAction, NO_COMMIT } from './scm-repositories.ts';
import { type Routes, raw, type ScmParts, type ScmRequest } from './scm-request.ts';
import { pathWithNamespace, type ScmProject } from './scm-state.ts';

const REPOSITORY = '/projects/:project/repository';
const FILE = `${REPOSITORY}/files/:file`;
const ACTIONS = ['create', 'update', 'delete', 'move', 'chmod'] as const;
const MAX_COMMITS = 1_000;

export function repositoryRoutes(parts: ScmParts): Routes {
  return {
    ...refRoutes(parts, 'heads'),
    ...refRoutes(parts, 'tags'),
    ...commitRoutes(parts),
    ...fileRoutes(parts),
    ...treeRoutes(parts),
    ...archiveRoutes(parts),
    ...comparisonRoutes(parts),
  };
}

const REFS = {
  heads: { path: `${REPOSITORY}/branches`, noun: 'Branch', member: 'branch' },
  tags: { path: `${REPOSITORY}/tags`, noun: 'Tag', member: 'tag_name' },
} as const;

function refRoutes(parts: ScmParts, kind: keyof typeof REFS): Routes {
  const { repositories, views } = parts;
  const { path, noun, member } = REFS[kind];
  const branchMembers = (project: ScmProject, name: string) => ({
    merged: false,
    protected: name === project.default_branch,
    developers_can_push: true,
    developers_can_merge: true,
    can_push: true,
    default: name === project.default_branch,
    web_url: `${views.project(project).web_url}/-/tree/${name}`,
  });
  const viewOf = async (
    project: ScmProject,
    { name, sha, message }: { name: string; sha: string; message: string },
  ) => ({
    name,
    commit: views.commit(project, await repositories.commit(project, sha)),
    ...(kind === 'heads' ? branchMembers(project, name) : { target: sha, message, release: null, protected: false }),
  });
  const refOf = async (request: ScmRequest) => {
    const found = (await repositories.refs(request.project, kind)).find(({ name }) => name === request.param('name'));
    if (!found) throw notFound(noun);
    return found;
  };
  return {
    async [`GET ${path}`](request) {
      const { project } = request;
      const search = request.text('search') ?? '';
      const found = (await repositories.refs(project, kind)).filter(({ name }) => name.includes(search));
      return Promise.all(found.map((ref) => viewOf(project, ref)));
    },
    async [`POST ${path}`](request) {
      const { project } = request;
      const { [member]: name, ref: from } = request.required(member, 'ref');
      const ref = `refs/${kind}/${name}`;
      if (await repositories.findCommit(project, ref)) throw new ScmError(400, { message: `${noun} already exists` });
      const sha = await repositories.findCommit(project, from);
      if (sha === undefined) throw new ScmError(400, { message: `Invalid reference name: ${from}` });
      await repositories.move(project, ref, NO_COMMIT, sha);
      await applyPush(parts, project, { refs: [{ ref, before: NO_COMMIT, after: sha }], options: [] });
      return viewOf(project, { name, sha, message: request.text('message') ?? '' });
    },
    [`GET ${path}/:name`]: async (request) => viewOf(request.project, await refOf(request)),
    async [`DELETE ${path}/:name`](request) {
      const { project } = request;
      const { name } = await refOf(request);
      if (kind === 'heads' && name === project.default_branch)
        throw new ScmError(400, { message: 'Cannot remove the default branch' });
      const ref = `refs/${kind}/${name}`;
      const before = (await repositories.text(project, 'rev-parse', ref)).trim();
      await repositories.move(project, ref, before, NO_COMMIT);
      return applyPush(parts, project, { refs: [{ ref, before, after: NO_COMMIT }], options: [] });
    },
  };
}

function commitRoutes(parts: ScmParts): Routes {
  const { repositories, views } = parts;
  return {
    async [`GET ${REPOSITORY}/commits`](request) {
      const { project } = request;
      const from = await repositories.findCommit(project, request.text('ref_name') || project.default_branch);
      if (from === undefined) return [];
      const path = request.text('path');
      const [since, until] = [request.text('since'), request.text('until')];
      const more = [...(since ? [`--since=${since}`] : []), ...(until ? [`--until=${until}`] : [])];
      const paths = path === undefined ? [] : [path];
      const found = await repositories.commits(project, ...more, `--max-count=${MAX_COMMITS}`, from, '--', ...paths);
      return found.map((commit) => views.commit(project, commit));
    },
    async [`POST ${REPOSITORY}/commits`](request) {
      const { after } = await writeOn(parts, request, request.list('actions').map(actionIn));
      return views.commit(request.project, await repositories.commit(request.project, after));
    },
    async [`GET ${REPOSITORY}/commits/:sha`](request) {
      const { project } = request;
      const commit = await repositories.commit(project, request.param('sha'));
      const numstat = await repositories.text(project, 'show', '--format=', '--numstat', commit.id);
      const counts = numstat.split('\n').map((line) => line.split('\t').map(Number));
      const sum = (column: number) => counts.reduce((total, line) => total + (line[column] || 0), 0);
      const stats = { additions: sum(0), deletions: sum(1), total: sum(0) + sum(1) };
      return { ...views.commit(project, commit), stats, status: null };
    },
    async [`GET ${REPOSITORY}/commits/:sha/diff`](request) {
      const { project } = request;
      const sha = await repositories.shaOf(project, request.param('sha'));
      return diffsIn(await repositories.text(project, 'show', '--format=', '--no-ext-diff', sha));
    },
    async [`GET ${REPOSITORY}/commits/:sha/merge_requests`](request) {
      const { project } = request;
      const sha = await repositories.shaOf(project, request.param('sha'));
      return project.merge_requests.flatMap((found) => (found.sha === sha ? views.mergeRequest(project, found) : []));
    },
  };

  function actionIn(input: object): FileAction {
    const { action, file_path: path, previous_path: previousPath, content, encoding, execute_filemode } = Object(input);
    if (!ACTIONS.includes(action) || typeof path !== 'string') throw invalidValue('actions');
    return {
      action,
      path,
      previousPath: typeof previousPath === 'string' ? previousPath : undefined,
      content: typeof content === 'string' ? bytesOf(content, encoding) : undefined,
      isExecutable: typeof execute_filemode === 'boolean' ? execute_filemode : undefined,
    };
  }
}

const bytesOf = (content: string, encoding: unknown) => Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');

/** Creates the commit that the request describes, on the branch that it names or starts. */
async function writeOn(
  parts: ScmParts,
  request: ScmRequest,
  actions: readonly FileAction[],
): Promise<{ branch: string; after: string }> {
  const { repositories } = parts;
  const { project } = request;
  const { branch, commit_message: message } = request.required('branch', 'commit_message');
  const ref = `refs/heads/${branch}`;
  const present = await repositories.findCommit(project, ref);
  const start = request.text('start_sha') ?? request.text('start_branch') ?? project.default_branch;
  const parent = present ?? (await repositories.findCommit(project, start));
  const isEmpty = (await repositories.refs(project, 'heads')).length === 0;
  if (parent === undefined && !isEmpty)
    throw new ScmError(400, { message: 'You can only create or edit files when you are on a branch' });
  const before = present ?? NO_COMMIT;
  const { author_name: name, author_email: email } = request.optional('author_name', 'author_email');
  const author = { ...(name && { name }), ...(email && { email }) };
  const after = await repositories.write(project, { ref, before, parent, message, ...author }, actions);
  await applyPush(parts, project, { refs: [{ ref, before, after }], options: [] });
  return { branch, after };
}

function fileRoutes(parts: ScmParts): Routes {
  const { repositories } = parts;
  /** A file of a commit. Throws 404. */
  const fileOf = async (request: ScmRequest) => {
    const { project } = request;
    const path = request.param('file');
    const ref = request.text('ref') ?? 'HEAD';
    const commit = await repositories.shaOf(project, ref === 'HEAD' ? project.default_branch : ref);
    const [mode, type, blob = ''] = (await repositories.text(project, 'ls-tree', commit, '--', path)).split(/\s/);
    if (type !== 'blob') throw notFound('File');
    const content = await repositories.bytes(project, ['cat-file', 'blob', blob]);
    const [last] = await repositories.commits(project, '-1', commit, '--', path);
    return { path, ref, commit, blob, content, isExecutable: mode === '100755', last: last?.id ?? commit };
  };
  const writing = (action: 'create' | 'update' | 'delete') => async (request: ScmRequest) => {
    const path = request.param('file');
    const contentText = request.text('content');
    if (action !== 'delete' && contentText === undefined) throw missing('content');
    const content = contentText === undefined ? undefined : bytesOf(contentText, request.text('encoding'));
    const { branch } = await writeOn(parts, request, [{ action, path, content }]);
    return { file_path: path, branch };
  };
  return {
    async [`GET ${FILE}`](request) {
      const { path, ref, commit, blob, content, isExecutable, last } = await fileOf(request);
      return {
        file_name: path.slice(path.lastIndexOf('/') + 1),
        file_path: path,
        size: content.length,
        encoding: 'base64',
        content: content.toString('base64'),
        ref,
        blob_id: blob,
        commit_id: commit,
        last_commit_id: last,
        execute_filemode: isExecutable,
      };
    },
    [`GET ${FILE}/raw`]: async (request) => raw('text/plain; charset=utf-8', (await fileOf(request)).content),
    [`POST ${FILE}`]: writing('create'),
    [`PUT ${FILE}`]: writing('update'),
    [`DELETE ${FILE}`]: writing('delete'),
  };
}

function treeRoutes({ repositories }: ScmParts): Routes {
  return {
    async [`GET ${REPOSITORY}/tree`](request) {
      const { project } = request;
      const sha = await repositories.shaOf(project, request.text('ref') || undefined);
      const below = request.text('path')?.replace(/\/+$/, '');
      const isRecursive = request.flag('recursive') === true;
      const args = ['ls-tree', '-z', ...(isRecursive ? ['-r', '-t'] : []), sha, '--', ...(below ? [`${below}/`] : [])];
      const listed = (await repositories.text(project, ...args)).split('\0').filter(Boolean);
      if (below && listed.length === 0) throw notFound('Tree');
      const entries = listed.map((line) => {
        const [, mode, type, id, path = ''] = /^(\d+) (\w+) (\w+)\t(.*)$/s.exec(line) ?? [];
        return { id, name: path.slice(path.lastIndexOf('/') + 1), type, path, mode };
      });
      return entries.filter(({ path }) => path !== below);
    },
  };
}

function comparisonRoutes({ repositories, views }: ScmParts): Routes {
  return {
    async [`GET ${REPOSITORY}/compare`](request) {
      const { project } = request;
      const { from, to } = request.required('from', 'to');
      const [first, last] = await Promise.all([repositories.shaOf(project, from), repositories.shaOf(project, to)]);
      const isStraight = request.flag('straight') === true;
      const commits = await repositories.commits(project, '--reverse', `${first}..${last}`);
      const range = `${first}${isStraight ? '..' : '...'}${last}`;
      const diff = await repositories.text(project, 'diff', '--no-ext-diff', range);
      const commitViews = commits.map((commit) => views.commit(project, commit));
      return {
        commit: commitViews.at(-1) ?? null,
        commits: commitViews,
        diffs: diffsIn(diff),
        compare_timeout: false,
        compare_same_ref: first === last,
      };
    },
    async [`GET ${REPOSITORY}/merge_base`](request) {
      const { project } = request;
      const shas = await Promise.all(request.texts('refs').map((ref) => repositories.shaOf(project, ref)));
      if (shas.length < 2) throw new ScmError(400, { message: 'Provide at least 2 refs' });
      const base = await repositories.text(project, 'merge-base', ...shas).catch(() => {
        throw notFound('Merge Base');
      });
      return views.commit(project, await repositories.commit(project, base));
    },
  };
}

function archiveRoutes({ repositories }: ScmParts): Routes {
  const archiveOf = async (request: ScmRequest, format: string) => {
    if (!['zip', 'tar', 'tar.gz'].includes(format)) throw invalidValue('format');
    const { project } = request;
    const sha = await repositories.shaOf(project, request.text('sha'));
    const name = `${pathWithNamespace(project).replaceAll('/', '-')}-${sha.slice(0, 8)}`;
    const content = await repositories.bytes(project, ['archive', `--format=${format}`, `--prefix=${name}/`, sha]);
    return raw('application/octet-stream', content, `${name}.${format}`);
  };
  return {
    [`GET ${REPOSITORY}/archive`]: (request) => archiveOf(request, 'tar.gz'),
    [`GET ${REPOSITORY}/archive.:format`]: (request) => archiveOf(request, request.param('format')),
  };
}

export function diffsIn(diff: string) {
  return diff
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith('diff --git '))
    .map((part) => {
      const [, oldPath = '', newPath = ''] = /^diff --git "?a\/(.*?)"? "?b\/(.*?)"?$/m.exec(part) ?? [];
      const at = part.search(/^@@ /m);
      const mode = (pattern: RegExp) => pattern.exec(part)?.[1] ?? '100644';
      return {
        old_path: oldPath,
        new_path: newPath,
        a_mode: mode(/^(?:old|deleted file) mode (\d+)$/m),
        b_mode: mode(/^new (?:file )?mode (\d+)$/m),
        new_file: /^new file mode/m.test(part),
        renamed_file: /^rename from/m.test(part),
        deleted_file: /^deleted file mode/m.test(part),
        generated_file: false,
        diff: at < 0 ? '' : part.slice(at),
      };
    });
}
