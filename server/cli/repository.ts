import { execFile } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { UserError } from '../config.ts';

const DEFINITION = '.gitlab-ci.yml';
const PROGRAMS = ['git', 'bash', 'rsync'] as const;
const run = promisify(execFile);

/** What a pipeline is run for. */
export interface Repository {
  dir: string;
  sha: string;
  /** Title of the newest commit. */
  title: string;
  /** Path of the project that its remote `origin` names, e.g. `fern-moss/shop`. */
  originPath: string | undefined;
  /** Text of the pipeline's definition, and of the scripts beside it that it may call. */
  definition: string;
}

/** Throws UserError for a program that pipelines need and that is not there. */
export async function demandPrograms(): Promise<void> {
  for (const program of PROGRAMS) {
    await run(program, ['--version']).catch(() => {
      throw new UserError(`pipelines need ${PROGRAMS.join(', ')}, and '${program}' is not on the PATH: install it`);
    });
  }
}

/** Looks at the repository, checked out at the branch. Throws UserError for what has to be put right first. */
export async function readRepository(dir: string, branch: string): Promise<Repository> {
  await demandPrograms();
  const git = async (...args: string[]) => (await run('git', ['-C', dir, ...args])).stdout.trim();
  const top = await git('rev-parse', '--show-toplevel').catch(() => {
    throw new UserError(`${dir} is no git repository: run \`git init\` and commit there, or name another folder`);
  });
  await access(join(top, DEFINITION)).catch(() => {
    throw new UserError(`${top} has no ${DEFINITION}: a pipeline needs a definition at the top of its repository`);
  });
  const sha = await git('rev-parse', '--verify', 'HEAD').catch(() => {
    throw new UserError(`${top} has no commit yet: commit what the pipeline shall build`);
  });
  const head = await git('symbolic-ref', '--short', '-q', 'HEAD').catch(() => '');
  if (head !== branch) {
    const now = head === '' ? 'no branch is checked out' : `'${head}' is checked out`;
    throw new UserError(
      `${now} in ${top}, not '${branch}': run \`git switch ${branch}\` first (with -c for a new branch)`,
    );
  }
  const origin = await git('remote', 'get-url', 'origin').catch(() => '');
  return {
    dir: top,
    sha,
    title: (await git('log', '-1', '--format=%s')) || branch,
    originPath: /([^/:]+\/[^/]+?)(?:\.git)?\/?$/.exec(origin)?.[1],
    definition: await definitionText(top),
  };
}

/** The definition with the scripts that it names: variables may be used there only. */
async function definitionText(dir: string): Promise<string> {
  const text = await readFile(join(dir, DEFINITION), 'utf8');
  const scripts = [...text.matchAll(/[\w./-]+\.(?:sh|bash|js|mjs|py)\b/g)].map(([name]) => name);
  const read = (name: string) => readFile(join(dir, name), 'utf8').catch(() => '');
  return [text, ...(await Promise.all([...new Set(scripts)].map(read)))].join('\n');
}
