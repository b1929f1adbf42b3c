import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { OWN_GROUP, signalGroup } from '../../system/process-tree.ts';
import { type ChildProcess, startProgram } from '../../system/programs.ts';
import type { ImageDefinition, ServiceDefinition } from './definition-schema.ts';
import { git, withoutPassword } from './git.ts';
import { COMMAND_MARK } from './job-script.ts';

export interface JobToRun {
  /** Its copy of the checkout, in which it works. */
  workDir: string;
  /** The folder above it that a container gets, with the folder of the scripts. */
  buildsDir: string;
  /** Path for a socket of the container engine, if the job uses Docker; short, as socket paths are limited. */
  dockerSocket: string | undefined;
  /** Folder with the files that run it (see `jobScripts`). */
  scriptDir: string;
  image: ImageDefinition | undefined;
  services: readonly ServiceDefinition[];
  variables: Readonly<Record<string, string>>;
  signal: AbortSignal;
  onLine(line: string): void;
  onNote(text: string): void;
}

/** Undefined: it did not even begin. */
export interface JobOutcome {
  exitCode: number;
  /** The reason why it failed, if its own output does not say so. */
  reason?: string;
  /** The kind of failure, in the words of `retry: when`, if it was not the script. */
  kind?: 'job_execution_timeout' | 'runner_system_failure';
  /** Set if its script ended before its timeout, however long its files are copied afterwards. */
  isInTime?: true;
}

/** Longest line: the output of a progress bar has no line ends. */
const MAX_LINE_CHARACTERS = 16_384;
/** A command is shown on a line of its own, also after output that does not end in a newline; so is the marker of a section. */
const LINE_END = new RegExp(
  `\\n|(?<=[^\\n])(?=${COMMAND_MARK.replace('$', '\\$')})|\\r(?<=section_(?:start|end):\\d{1,20}:[\\w.-]{1,255}(?:\\[[^\\]\\n]{0,255}\\])?\\r)`,
);
/** Time for jobs to end after a stop request. */
const END_GRACE_MS = 2_000;

/**
 * Matches the variables that jobs on this machine inherit: those by which programs, the network and the engine are
 * found, and no credentials of the developer.
 */
const INHERITED =
  /^(?:PATH|PATHEXT|HOME|USER|USERNAME|LOGNAME|USERPROFILE|SHELL|COMSPEC|SYSTEMROOT|WINDIR|PROGRAM\w+(?:\(X86\))?|APPDATA|LOCALAPPDATA|LANG|LANGUAGE|LC_\w+|TZ|TERM|TMPDIR|TEMP|TMP|XDG_RUNTIME_DIR|DOCKER_(?:HOST|CONTEXT|CONFIG|CERT_PATH|TLS_VERIFY|API_VERSION|BUILDKIT)|CONTAINER_HOST|(?:HTTP|HTTPS|FTP|ALL|NO)_PROXY|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS)$/i;

/** Reads user and password from a variable of the job, by built-in commands of the shell only, which are in no list of processes. */
const GIT_HELPER = `!f() {
  rest=\${CI_REPOSITORY_URL#*://} && pair=\${rest%%@*}
  test "$1" != get || printf 'username=%s\\npassword=%s\\n' "\${pair%%:*}" "\${pair#*:}"
}; f`;

/** Points `origin` of the checkout to the repository in the mock GitLab. Git gets the token of the job from its variables. */
export async function setOrigin(workDir: string, repositoryUrl: string): Promise<void> {
  const address = withoutPassword(repositoryUrl);
  try {
    await git(workDir, ['remote', 'set-url', 'origin', address]);
    await git(workDir, ['config', `credential.${address}.helper`, GIT_HELPER]);
  } catch {
    // There is no checkout with GIT_STRATEGY=none.
  }
}

/** Runs a job's script on this machine, in its own copy of the checkout. */
export async function runOnHost(job: JobToRun, env: Readonly<Record<string, string | undefined>>): Promise<JobOutcome> {
  if (job.variables.CI_REPOSITORY_URL) await setOrigin(job.workDir, job.variables.CI_REPOSITORY_URL);
  const inherited = Object.entries(env).filter(([name]) => INHERITED.test(name));
  const child = startProgram('sh', [`${job.scriptDir}/run`, job.scriptDir, job.workDir], {
    cwd: job.workDir,
    env: { ...Object.fromEntries(inherited), ...job.variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group, so that everything the job starts ends with it.
    detached: OWN_GROUP,
  });
  return { exitCode: await endOf(child, job) };
}

/** Resolves to the exit code once the child has ended; its background processes are ended. */
function endOf(child: ChildProcess, { signal, onLine }: Pick<JobToRun, 'signal' | 'onLine'>): Promise<number> {
  for (const stream of [child.stdout, child.stderr]) if (stream) readLines(stream, onLine);
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    signalGroup(child, 'SIGTERM');
    timer = setTimeout(() => signalGroup(child, 'SIGKILL'), END_GRACE_MS);
  };
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  return new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    // Not `close`: background processes may keep its output open forever.
    child.once('exit', (code, exitSignal) => {
      signalGroup(child, 'SIGKILL');
      const settle = () => resolve(code ?? (exitSignal === 'SIGKILL' ? 137 : 143));
      child.once('close', settle);
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
        settle();
      }, END_GRACE_MS).unref();
    });
  }).finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  });
}

/** Lines as they come, also of what is no text; a long one in parts. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const parts = (rest + decoder.write(chunk)).split(LINE_END);
    rest = parts.pop() ?? '';
    for (const part of parts) emitLine(part);
    while (rest.length > MAX_LINE_CHARACTERS) {
      emitLine(rest.slice(0, MAX_LINE_CHARACTERS));
      rest = rest.slice(MAX_LINE_CHARACTERS);
    }
  });
  stream.once('close', () => {
    if (rest !== '') emitLine(rest);
    rest = '';
  });
  // Of a progress bar that overwrites itself, only the last state is visible.
  const emitLine = (line: string) =>
    onLine(line.replace(/\r+$/, '').replace(/^.*\r/s, '').slice(0, MAX_LINE_CHARACTERS));
}
