import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PipelineError } from './pipeline-error.ts';

const run = promisify(execFile);
/** Lists of files of large repositories. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Whose commits are made for a run: whoever sits here need not have told git who they are. */
export const AUTHOR = [
  '-c',
  'user.name=Terrarium',
  '-c',
  'user.email=pipeline@terrarium.invalid',
  '-c',
  'commit.gpgsign=false',
];

export interface GitOptions {
  signal?: AbortSignal | undefined;
  env?: Record<string, string>;
}

/**
 * What git prints, without white space at its end. It asks nobody for a password, and speaks English; what the environment says of
 * another repository is not for it.
 *
 * @throws an Error with what git complains of
 */
export async function git(
  dir: string,
  args: readonly string[],
  { signal, env = {} }: GitOptions = {},
): Promise<string> {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  try {
    const { stdout } = await run('git', ['-C', dir, ...args], {
      maxBuffer: MAX_OUTPUT_BYTES,
      env: { ...Object.fromEntries(kept), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', ...env },
      ...(signal && { signal }),
    });
    return stdout.trimEnd();
  } catch (failure) {
    signal?.throwIfAborted();
    const { code, stderr, message } = failure as NodeJS.ErrnoException & { stderr?: string };
    if (code === 'ENOENT') throw missingProgram('git');
    throw new Error(stderr?.trim().split('\n').at(-1) || message);
  }
}

/** Programs that pipelines are run with. */
const PROGRAMS = ['git', 'bash', 'rsync'] as const;

/** Throws PipelineError for a program that pipelines need and that is not there. */
export async function demandPrograms(): Promise<void> {
  for (const program of PROGRAMS) {
    await run(program, ['--version']).catch(() => {
      throw missingProgram(program);
    });
  }
}

function missingProgram(program: string): PipelineError {
  return new PipelineError(
    `pipelines need ${PROGRAMS.join(', ')}, and '${program}' is not on the PATH: install it (\`terrarium doctor\` says how)`,
  );
}
