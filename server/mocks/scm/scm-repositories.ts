import { randomUUID } from 'node:crypto';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../../system/files-in-use.ts';
import { gitSettings, runGit } from '../../system/git.ts';
import { notFound, ScmError } from './scm-error.ts';
import { pathWithNamespace, SCM_USER, type ScmProject } from './scm-state.ts';

/** The most that one push may bring. */
const MAX_PUSH_BYTES = 512 * 1024 * 1024;
/** Reports the changed refs and the options of a push to the file that `TERRARIUM_PUSH` names. */
const HOOK = `#!/bin/sh
{
  cat
  i=0
  while [ "$i" -lt "\${GIT_PUSH_OPTION_COUNT:-0}" ]; do
    eval "printf 'option %s\\n' \\"\\$GIT_PUSH_OPTION_$i\\""
    i=$((i + 1))
  done
} > "$TERRARIUM_PUSH"
`;
/** Commits that are being created, which clients do not see. */
const DRAFTS = 'refs/drafts';
/** The settings of the repositories, whatever is configured on this machine. */
const SETTINGS = {
  'core.hooksPath': 'hooks',
  'http.receivepack': 'true',
  'receive.advertisePushOptions': 'true',
  'receive.shallowUpdate': 'true',
  'receive.maxInputSize': String(MAX_PUSH_BYTES),
  'transfer.hideRefs': DRAFTS,
  'uploadpack.allowAnySHA1InWant': 'true',
  'uploadpack.allowFilter': 'true',
  'gc.autoDetach': 'false',
};

export const GIT_ENVIRONMENT = {
  GIT_CONFIG_GLOBAL: devNull,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_LITERAL_PATHSPECS: '1',
  ...gitSettings(SETTINGS),
};

/** Commit id of a ref that did not exist before a push, or does not after it. */
export const NO_COMMIT = '0'.repeat(40);

/** Members of a commit in the API, with the placeholders of `git log` that print them. */
const COMMIT_MEMBERS = {
  id: '%H',
  parent_ids: '%P',
  author_name: '%an',
  author_email: '%ae',
  authored_date: '%aI',
  committer_name: '%cn',
  committer_email: '%ce',
  committed_date: '%cI',
  message: '%B',
} as const;
type CommitMember = keyof typeof COMMIT_MEMBERS;

export type ScmCommit = Record<Exclude<CommitMember, 'parent_ids'>, string> & { parent_ids: string[] };

export interface FileAction {
  action: 'create' | 'update' | 'delete' | 'move' | 'chmod';
  path: string;
  previousPath?: string | undefined;
  content?: Buffer | undefined;
  isExecutable?: boolean | undefined;
}

/** The Git repositories of the projects: bare, one folder each. */
export class ScmRepositories {
  readonly #folder: string;
  readonly #directories = new Map<string, Promise<string>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The folder of a project's repository; created if it does not exist. Throws 501 if git is not on the PATH. */
  dirOf(project: ScmProject): Promise<string> {
    const path = this.#pathOf(project);
    let directory = this.#directories.get(path);
    if (!directory) {
      directory = this.#make(project, path);
      directory.catch(() => this.#directories.delete(path));
      this.#directories.set(path, directory);
    }
    return directory;
  }

  async remove(project: ScmProject): Promise<void> {
    this.#directories.delete(this.#pathOf(project));
    await removeTree(this.#pathOf(project));
  }

  /** Returns the output of git. Throws 400 with git's message. */
  async bytes(project: ScmProject, args: readonly string[], input?: string | Buffer): Promise<Buffer> {
    const dir = await this.dirOf(project);
    return runGit(dir, args, { env: GIT_ENVIRONMENT, ...(input !== undefined && { input }) }).catch((failure) => {
      throw new ScmError(400, { message: failure.message });
    });
  }

  async text(project: ScmProject, ...args: string[]): Promise<string> {
    return (await this.bytes(project, args)).toString().trimEnd();
  }

  /** Undefined if no branch, tag or commit has that name. */
  async findCommit(project: ScmProject, ref: string): Promise<string | undefined> {
    await this.dirOf(project);
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
    return this.text(project, ...args).catch(() => undefined);
  }

  /** Returns the commit of a ref, or of the default branch. Throws 404. */
  async shaOf(project: ScmProject, ref: string | undefined): Promise<string> {
    const found = await this.findCommit(project, ref ?? project.default_branch);
    if (found === undefined) throw notFound(ref === undefined || ref === '' ? 'Repository' : 'Commit');
    return found;
  }

  /** The newest first. @param more arguments of `git log` */
  async commits(project: ScmProject, ...more: string[]): Promise<ScmCommit[]> {
    const format = `${Object.values(COMMIT_MEMBERS).join('%x00')}%x01`;
    const printed = await this.text(project, 'log', `--format=${format}`, ...more);
    return printed.split('\x01').flatMap((text) => {
      const values = text.replace(/^\n/, '').split('\0');
      if (values[0] === '') return [];
      const members = Object.keys(COMMIT_MEMBERS).map((name, index) => [name, values[index] ?? '']);
      const commit: Record<CommitMember, string> = Object.fromEntries(members);
      return [{ ...commit, parent_ids: commit.parent_ids.split(' ').filter(Boolean) }];
    });
  }

  /** Throws 404. */
  async commit(project: ScmProject, ref: string): Promise<ScmCommit> {
    const sha = await this.shaOf(project, ref);
    const [found] = await this.commits(project, '-1', sha);
    if (!found) throw notFound('Commit');
    return found;
  }

  /** Names and commits, sorted by name. */
  async refs(project: ScmProject, kind: 'heads' | 'tags'): Promise<{ name: string; sha: string; message: string }[]> {
    const format = '%(refname:strip=2)%00%(objectname)%00%(*objectname)%00%(if)%(*objectname)%(then)%(subject)%(end)';
    const printed = await this.text(project, 'for-each-ref', `--format=${format}`, `refs/${kind}`);
    return printed
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [name = '', object = '', target = '', message = ''] = line.split('\0');
        return { name, sha: target || object, message };
      });
  }

  /** Moves a branch or tag, creates it (`before` is NO_COMMIT) or removes it (`after` is). Throws 400. */
  async move(project: ScmProject, ref: string, before: string, after: string): Promise<void> {
    await this.text(project, 'check-ref-format', ref).catch(() => {
      throw new ScmError(400, { message: `${ref.split('/').slice(2).join('/')} is not a valid name` });
    });
    await this.text(project, 'update-ref', ref, after, before).catch((failure) => {
      throw new ScmError(400, { message: `the reference was changed meanwhile: ${failure.message}` });
    });
  }

  /**
   * Creates a commit and moves the branch from `before` to it; resolves to its id. Throws 400.
   *
   * @param commit.parent undefined for the first commit of a repository
   */
  async write(
    project: ScmProject,
    commit: { ref: string; before: string; parent: string | undefined; message: string; name?: string; email?: string },
    actions: readonly FileAction[],
  ): Promise<string> {
    const { parent, message, name = SCM_USER.name, email = 'terrarium@terrarium.invalid' } = commit;
    const plain = (text: string) => text.replace(/[<>\n]/g, '');
    const identity = `${plain(name)} <${plain(email)}> ${Math.trunc(Date.now() / 1000)} +0000`;
    const draft = `${DRAFTS}/${randomUUID()}`;
    const parts = [`commit ${draft}\nauthor ${identity}\ncommitter ${identity}\n`, ...dataOf(message)];
    if (parent !== undefined) parts.push(`from ${parent}\n`);
    for (const action of actions) parts.push(...(await this.#commandsOf(project, parent, action)));
    const input = Buffer.concat(parts.map((part) => Buffer.from(part)));
    await this.bytes(project, ['fast-import', '--quiet'], input);
    const newSha = await this.shaOf(project, draft);
    await this.text(project, 'update-ref', '-d', draft);
    await this.move(project, commit.ref, commit.before, newSha);
    return newSha;
  }

  /** The commands of `git fast-import` for an action. Throws 400. */
  async #commandsOf(
    project: ScmProject,
    parent: string | undefined,
    { action, path, previousPath, content, isExecutable }: FileAction,
  ): Promise<(string | Buffer)[]> {
    const entryOf = (name: string) =>
      parent === undefined ? '' : this.text(project, 'ls-tree', parent, '--', requirePath(name));
    const entry = await entryOf(previousPath ?? path);
    const isThere = entry !== '' || (action === 'create' && (await entryOf(path)) !== '');
    if (action === 'create' && isThere) throw new ScmError(400, { message: 'A file with this name already exists' });
    if (action !== 'create' && !isThere) throw new ScmError(400, { message: "A file with this name doesn't exist" });
    const [oldMode, , oldBlob = ''] = entry.split(/\s/);
    const mode = isExecutable === undefined ? oldMode || '100644' : isExecutable ? '100755' : '100644';
    const removal = `D ${quoted(previousPath ?? path)}\n`;
    if (action === 'delete') return [removal];
    const removals = action === 'move' ? [removal] : [];
    if (content === undefined && action !== 'create')
      return [...removals, `M ${mode} ${oldBlob} ${quoted(requirePath(path))}\n`];
    return [...removals, `M ${mode} inline ${quoted(requirePath(path))}\n`, ...dataOf(content ?? '')];
  }

  /** Another one for a project that got the id of a removed one. */
  #pathOf({ id, created_at }: ScmProject): string {
    return join(this.#folder, `${id}-${Date.parse(created_at).toString(36)}.git`);
  }

  async #make(project: ScmProject, dir: string): Promise<string> {
    const isThere = await access(join(dir, 'hooks', 'post-receive')).then(
      () => true,
      () => false,
    );
    if (isThere) return dir;
    await mkdir(join(dir, 'hooks'), { recursive: true, mode: 0o700 });
    const args = ['init', '--quiet', '--bare', '--template=', '--initial-branch', project.default_branch, '.'];
    await runGit(dir, args, { env: GIT_ENVIRONMENT }).catch((failure) => {
      if (Object(failure).code !== 'ENOENT') throw failure;
      const why = `501 Not Implemented: the repository of ${pathWithNamespace(project)} requires git, which is not on the PATH of the platform. Install git.`;
      throw new ScmError(501, { message: why });
    });
    await writeFile(join(dir, 'hooks', 'post-receive'), HOOK, { mode: 0o755 });
    return dir;
  }
}

/** Throws 400 for a path that git would not accept in a checkout. */
function requirePath(path: string): string {
  const isValid =
    path !== '' && path.split('/').every((part) => !['', '.', '..'].includes(part) && !/^\.git$/i.test(part));
  if (!isValid) throw new ScmError(400, { message: 'file_path should be a valid file path' });
  return path;
}

/** As `git fast-import` reads messages and contents. */
function dataOf(content: string | Buffer): (string | Buffer)[] {
  return [`data ${Buffer.byteLength(content)}\n`, content, '\n'];
}

/** As `git fast-import` reads paths with special characters. */
function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
