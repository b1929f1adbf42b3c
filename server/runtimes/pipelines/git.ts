import { SHELL_COMMAND } from '../../model/shell-command.ts';
import { type GitRun, runGit } from '../../system/git.ts';
import { runProgram } from '../../system/programs.ts';
import { SYSTEM } from '../../system/this-system.ts';
import { PipelineError } from './pipeline-error.ts';

/** Author of the commits for a run, because the user may not have configured git. */
export const AUTHOR = [
  ...['-c', 'user.name=Terrarium', '-c', 'user.email=pipeline@terrarium.invalid'],
  ...['-c', 'commit.gpgsign=false'],
];

/**
 * The output of git, without trailing white space.
 * @throws an Error with the message of git
 */
export async function git(dir: string, args: readonly string[], options: GitRun = {}): Promise<string> {
  try {
    return (await runGit(dir, args, options)).toString().trimEnd();
  } catch (failure) {
    options.signal?.throwIfAborted();
    throw Object(failure).code === 'ENOENT' ? missingProgram('git') : failure;
  }
}

/** An address without user and password, which every account of the machine could read in the arguments of a program. */
export function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password === '') return address;
  url.username = '';
  url.password = '';
  return url.href;
}

const PROGRAMS = ['git', 'bash'] as const;

export async function requirePrograms(): Promise<void> {
  await Promise.all(
    PROGRAMS.map((program) =>
      runProgram(program, ['--version']).catch(() => {
        throw missingProgram(program);
      }),
    ),
  );
}

function missingProgram(program: string): PipelineError {
  const advice =
    SYSTEM === 'win32'
      ? 'On Windows, run Terrarium in WSL.'
      : `To see how to install it, run \`${SHELL_COMMAND} doctor\`.`;
  return new PipelineError(
    `pipelines require ${PROGRAMS.join(' and ')}, but '${program}' is not on the PATH. ${advice}`,
  );
}
