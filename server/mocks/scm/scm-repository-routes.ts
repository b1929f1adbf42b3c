import { invalidValue, missing, notFound, ScmError } from './scm-error.ts';
import { type FileAction, NO_COMMIT, type ScmCommit } from './scm-repositories.ts';
import { Listed, Raw, type Routes, type ScmRequest, type ScmRoutesOptions } from './scm-request.ts';
import { pathWithNamespace, type ScmProject } from './scm-state.ts';

const REPOSITORY = '/projects/:project/repository';
const FILE = `${REPOSITORY}/files/:file`;
const ACTIONS = ['create', 'update', 'delete', 'move', 'chmod'] as const;
const MAX_COMMITS = 1_000;

/** Branches, tags, commits and files of the Git repositories. */
export function repositoryRoutes(options: ScmRoutesOptions): Routes {
  const ofFiles = { ...fileRoutes(options), ...treeRoutes(options), ...archiveRoutes(options) };
  return { ...refRoutes(options), ...commitRoutes(options), ...ofFiles, ...comparisonRoutes(options) };
}

type Refs = { name: string; sha: string; message: string };

function refRoutes({ repositories, pushed, views }: ScmRoutesOptions): Routes {
  const branchView = async (project: ScmProject, { name, sha }: Pick<Refs, 'name' | 'sha'>) => ({
    name,
    commit: views.commit(project, await repositories.commit(project, sha)),
    merged: false,
    protected: name === project.default_branch,
    developers_can_push: true,
    developers_can_merge: true,
    can_push: true,
    default: name === project.default_branch,
    web_url: `${views.project(project).web_url}/-/tree/${name}`,
  });
  const tagView = async (project: ScmProject, { name, sha, message }: Refs) => ({
    name,
    target: sha,
    message,
    commit: views.commit(project, await repositories.commit(project, sha)),
    release: null,
    protected: false,
  });
  const kinds = {
    branches: { kind: 'heads', noun: 'Branch', viewOf: branchView },
    tags: { kind: 'tags', noun: 'Tag', viewOf: tagView },
  } as const;
  return Object.assign(
    {},
    ...Object.entries(kinds).map(([path, { kind, noun, viewOf }]): Routes => {
      const list = `${REPOSITORY}/${path}`;
      const member = kind === 'heads' ? 'branch' : 'tag_name';
      const find = async (project: ScmProject, name: string) => {
        const found = (await repositories.refs(project, kind)).find((one) => one.name === name);
        if (!found) throw notFound(noun);
        return found;
      };
      return {
        async [`GET ${list}`](request) {
          const { project } = request;
          const search = request.query('search') ?? '';
          const found = (await repositories.refs(project, kind)).filter(({ name }) => name.includes(search));
          return new Listed(await Promise.all(found.map((one) => viewOf(project, one))));
        },
        async [`POST ${list}`](request) {
          const { project } = request;
          const { [member]: name, ref: from } = request.required(member, 'ref');
          const ref = `refs/${kind}/${name}`;
          if (await repositories.findCommit(project, ref))
            throw new ScmError(400, { message: `${noun} already exists` });
          const sha = await repositories.findCommit(project, from);
          if (sha === undefined) throw new ScmError(400, { message: `Invalid reference name: ${from}` });
          await repositories.move(project, ref, NO_COMMIT, sha);
          await pushed(project, { refs: [{ ref, before: NO_COMMIT, after: sha }], options: [] });
          return viewOf(project, { name, sha, message: request.text('message') ?? '' });
        },
        async [`GET ${list}/:name`](request) {
          const { project } = request;
          return viewOf(project, await find(project, request.param('name')));
        },
        async [`DELETE ${list}/:name`](request) {
          const { project } = request;
          const { name } = await find(project, request.param('name'));
          if (kind === 'heads' && name === project.default_branch)
            throw new ScmError(400, { message: 'Cannot remove the default branch' });
          const ref = `refs/${kind}/${name}`;
          const before = (await repositories.text(project, 'rev-parse', ref)).trim();
          await repositories.move(project, ref, before, NO_COMMIT);
          await pushed(project, { refs: [{ ref, before, after: NO_COMMIT }], options: [] });
          return undefined;
        },
      };
    }),
  );
}

function commitRoutes(options: ScmRoutesOptions): Routes {
  const { repositories, views } = options;
  return {
    async [`GET ${REPOSITORY}/commits`](request) {
      const { project } = request;
      const from = await repositories.findCommit(project, request.query('ref_name') || project.default_branch);
      if (from === undefined) return new Listed([]);
      const path = request.query('path');
      const [since, until] = [request.query('since'), request.query('until')];
      const more = [...(since ? [`--since=${since}`] : []), ...(until ? [`--until=${until}`] : [])];
      const paths = path === undefined ? [] : [path];
      const found = await repositories.commits(project, ...more, `--max-count=${MAX_COMMITS}`, from, '--', ...paths);
      return new Listed(found.map((one) => views.commit(project, one)));
    },
    async [`POST ${REPOSITORY}/commits`](request) {
      const { project } = request;
      const { branch, commit_message: message } = request.required('branch', 'commit_message');
      const actions = request.list('actions').map(actionIn);
      return views.commit(project, await writeOn(options, request, { branch, message }, actions));
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
      return new Listed(diffsIn(await repositories.text(project, 'show', '--format=', '--no-ext-diff', sha)));
    },
    async [`GET ${REPOSITORY}/commits/:sha/refs`](request) {
      const { project } = request;
      const sha = await repositories.shaOf(project, request.param('sha'));
      const listed = await repositories.text(project, 'for-each-ref', '--format=%(refname)', `--contains=${sha}`);
      const refs = listed.split('\n').flatMap((ref) => {
        const [, kind, name] = /^refs\/(heads|tags)\/(.*)$/.exec(ref) ?? [];
        return kind ? [{ type: kind === 'heads' ? 'branch' : 'tag', name }] : [];
      });
      return new Listed(refs);
    },
    async [`GET ${REPOSITORY}/commits/:sha/merge_requests`](request) {
      const { project } = request;
      const sha = await repositories.shaOf(project, request.param('sha'));
      return new Listed(
        project.merge_requests.filter((one) => one.sha === sha).map((one) => views.mergeRequest(project, one)),
      );
    },
  };

  function actionIn(sent: object): FileAction {
    const { action, file_path: path, previous_path: previousPath, content, encoding, execute_filemode } = Object(sent);
    if (!ACTIONS.includes(action) || typeof path !== 'string') throw invalidValue('actions');
    return {
      action,
      path,
      previousPath: typeof previousPath === 'string' ? previousPath : undefined,
      content:
        typeof content === 'string' ? Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8') : undefined,
      isExecutable: typeof execute_filemode === 'boolean' ? execute_filemode : undefined,
    };
  }
}

/** Creates the commit that the request describes, on the branch that it names or starts. */
async function writeOn(
  { repositories, pushed }: ScmRoutesOptions,
  request: ScmRequest,
  { branch, message }: { branch: string; message: string },
  actions: readonly FileAction[],
): Promise<ScmCommit> {
  const { project } = request;
  const ref = `refs/heads/${branch}`;
  const present = await repositories.findCommit(project, ref);
  const start = request.text('start_sha') ?? request.text('start_branch') ?? project.default_branch;
  const parent = present ?? (await repositories.findCommit(project, start));
  const isEmpty = (await repositories.refs(project, 'heads')).length === 0;
  if (parent === undefined && !isEmpty)
    throw new ScmError(400, { message: 'You can only create or edit files when you are on a branch' });
  const before = present ?? NO_COMMIT;
  const { author_name: name, author_email: email } = request.sent('author_name', 'author_email');
  const who = { ...(name && { name }), ...(email && { email }) };
  const after = await repositories.write(project, { ref, before, parent, message, ...who }, actions);
  await pushed(project, { refs: [{ ref, before, after }], options: [] });
  return repositories.commit(project, after);
}

function fileRoutes(options: ScmRoutesOptions): Routes {
  const { repositories } = options;
  /** A file of a commit. Throws 404. */
  const fileOf = async (request: ScmRequest) => {
    const { project } = request;
    const path = request.param('file');
    const ref = request.query('ref') ?? 'HEAD';
    const commit = await repositories.shaOf(project, ref === 'HEAD' ? project.default_branch : ref);
    const [mode, type, blob = ''] = (await repositories.text(project, 'ls-tree', commit, '--', path)).split(/\s/);
    if (type !== 'blob') throw notFound('File');
    const content = await repositories.bytes(project, ['cat-file', 'blob', blob]);
    const [last] = await repositories.commits(project, '-1', commit, '--', path);
    return { path, ref, commit, blob, content, isExecutable: mode === '100755', last: last?.id ?? commit };
  };
  const writing = (action: 'create' | 'update' | 'delete') => async (request: ScmRequest) => {
    const { branch, commit_message: message } = request.required('branch', 'commit_message');
    const content = request.text('content');
    if (action !== 'delete' && content === undefined) throw missing('content');
    const path = request.param('file');
    const encoding = request.text('encoding') === 'base64' ? 'base64' : 'utf8';
    const bytes = content === undefined ? undefined : Buffer.from(content, encoding);
    await writeOn(options, request, { branch, message }, [{ action, path, content: bytes }]);
    return action === 'delete' ? undefined : { file_path: path, branch };
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
    [`GET ${FILE}/raw`]: async (request) => new Raw('text/plain; charset=utf-8', (await fileOf(request)).content),
    [`POST ${FILE}`]: writing('create'),
    [`PUT ${FILE}`]: writing('update'),
    [`DELETE ${FILE}`]: writing('delete'),
  };
}

function treeRoutes({ repositories }: ScmRoutesOptions): Routes {
  const blobOf = async (request: ScmRequest) => {
    const blob = await repositories
      .bytes(request.project, ['cat-file', 'blob', request.param('sha')])
      .catch(() => undefined);
    if (!blob) throw notFound('Blob');
    return blob;
  };
  return {
    async [`GET ${REPOSITORY}/tree`](request) {
      const { project } = request;
      const sha = await repositories.shaOf(project, request.query('ref') || undefined);
      const below = request.query('path')?.replace(/\/+$/, '');
      const isRecursive = request.flag('recursive') === true;
      const args = ['ls-tree', '-z', ...(isRecursive ? ['-r', '-t'] : []), sha, '--', ...(below ? [`${below}/`] : [])];
      const listed = (await repositories.text(project, ...args)).split('\0').filter(Boolean);
      if (below && listed.length === 0) throw notFound('Tree');
      const entries = listed.map((line) => {
        const [, mode, type, id, path = ''] = /^(\d+) (\w+) (\w+)\t(.*)$/s.exec(line) ?? [];
        return { id, name: path.slice(path.lastIndexOf('/') + 1), type, path, mode };
      });
      return new Listed(entries.filter(({ path }) => path !== below));
    },
    async [`GET ${REPOSITORY}/blobs/:sha`](request) {
      const blob = await blobOf(request);
      return { size: blob.length, encoding: 'base64', content: blob.toString('base64'), sha: request.param('sha') };
    },
    [`GET ${REPOSITORY}/blobs/:sha/raw`]: async (request) =>
      new Raw('text/plain; charset=utf-8', await blobOf(request)),
  };
}

function comparisonRoutes({ repositories, views }: ScmRoutesOptions): Routes {
  return {
    async [`GET ${REPOSITORY}/compare`](request) {
      const { project } = request;
      const { from, to } = request.required('from', 'to');
      const [first, last] = await Promise.all([repositories.shaOf(project, from), repositories.shaOf(project, to)]);
      const isStraight = request.flag('straight') === true;
      const commits = await repositories.commits(project, '--reverse', `${first}..${last}`);
      const diff = await repositories.text(
        project,
        'diff',
        '--no-ext-diff',
        `${first}${isStraight ? '..' : '...'}${last}`,
      );
      const shown = commits.map((one) => views.commit(project, one));
      return {
        commit: shown.at(-1) ?? null,
        commits: shown,
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
    async [`GET ${REPOSITORY}/contributors`](request) {
      const { project } = request;
      const sha = await repositories.shaOf(project, undefined);
      const lines = (await repositories.text(project, 'shortlog', '--summary', '--numbered', '--email', sha)).split(
        '\n',
      );
      const contributors = lines.flatMap((line) => {
        const [, commits, name, email] = /^\s*(\d+)\t(.*) <(.*)>$/.exec(line) ?? [];
        return commits ? [{ name, email, commits: Number(commits), additions: 0, deletions: 0 }] : [];
      });
      return new Listed(contributors);
    },
  };
}

function archiveRoutes({ repositories }: ScmRoutesOptions): Routes {
  const archiveOf = async (request: ScmRequest, format: string): Promise<Raw> => {
    if (!['zip', 'tar', 'tar.gz'].includes(format)) throw invalidValue('format');
    const { project } = request;
    const sha = await repositories.shaOf(project, request.query('sha'));
    const name = `${pathWithNamespace(project).replaceAll('/', '-')}-${sha.slice(0, 8)}`;
    const content = await repositories.bytes(project, ['archive', `--format=${format}`, `--prefix=${name}/`, sha]);
    return new Raw('application/octet-stream', content, `${name}.${format}`);
  };
  return {
    [`GET ${REPOSITORY}/archive`]: (request) => archiveOf(request, 'tar.gz'),
    [`GET ${REPOSITORY}/archive.:format`]: (request) => archiveOf(request, request.param('format')),
  };
}

/** The files of a diff, as the API lists them. */
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
