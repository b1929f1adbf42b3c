import { runProgram } from './programs.ts';

/** Start files of a shell can take long, or wait for input that never comes. */
const SHELL_TIMEOUT_MS = 15_000;
const MARK = '__terrarium_path__';

/** The search path of the user's login shell, for programs that the desktop starts; undefined if the shell does not return one. */
export async function loginPath(env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  const { SHELL: shell = '/bin/zsh' } = env;
  // `printenv`, because fish writes lists in another way.
  const line = `printf %s ${MARK}; printenv PATH; printf %s ${MARK}`;
  const options = { env: { ...env }, timeout: SHELL_TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
  const ran = await runProgram(shell, ['-l', '-i', '-c', line], options).catch(() => undefined);
  return ran?.stdout.split(MARK)[1]?.trim() || undefined;
}
