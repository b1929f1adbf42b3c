import { execFile } from 'node:child_process';

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** For a git that waits for a drive or a server which does not respond. */
const TIMEOUT_MS = 10 * 60_000;

export interface GitRun {
  signal?: AbortSignal | undefined;
  env?: Readonly<Record<string, string>>;
  input?: string | Buffer;
  timeoutMs?: number;
}

/** The environment for git: English messages, no prompts, and nothing that the variables of this process say about another repository. */
export function gitEnvironment(env: Readonly<Record<string, string>> = {}): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  return { ...Object.fromEntries(inherited), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', ...env };
}

/** Environment variables that set options of git without a file or an argument, which every user of the machine could read. */
export function gitSettings(settings: Readonly<Record<string, string>>): Record<string, string> {
  const pairs = Object.entries(settings).flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(Object.keys(settings).length), ...Object.fromEntries(pairs) };
}

/** Resolves to git's output in a folder. Rejects with the last line of its error output; the code is ENOENT if git is not on the PATH. */
export function runGit(
  dir: string,
  args: readonly string[],
  { signal, env, input, timeoutMs = TIMEOUT_MS }: GitRun = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = {
      maxBuffer: MAX_OUTPUT_BYTES,
      encoding: 'buffer',
      env: gitEnvironment(env),
      signal,
      timeout: timeoutMs,
      windowsHide: true,
    } as const;
    const child = execFile('git', ['-C', dir, ...args], options, (failure, stdout, stderr) => {
      if (!failure) resolve(stdout);
      else if (failure.code === 'ENOENT') reject(failure);
      else if (failure.killed && !signal?.aborted) reject(new Error(`git did not end within ${timeoutMs / 1_000} s`));
      else reject(new Error(stderr.toString().trim().split('\n').at(-1) || failure.message));
    });
    child.stdin?.on('error', () => undefined); // what git complains of says more
    child.stdin?.end(input);
  });
}
