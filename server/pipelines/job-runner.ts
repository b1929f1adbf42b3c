import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { ImageDefinition, ServiceDefinition } from './definition.ts';

/** What a job is run with, whatever runs it. */
export interface JobToRun {
  /** Its copy of the checkout, in which it works. */
  workDir: string;
  /** Holds the files that run it (see `jobScripts`). */
  scriptDir: string;
  /** Folder with the variables that are files, if there are any. */
  filesDir: string | undefined;
  image: ImageDefinition | undefined;
  services: readonly ServiceDefinition[];
  variables: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** A line that it printed. */
  onLine(line: string): void;
  /** A line about it. */
  onNote(text: string): void;
}

/** Undefined: it did not even begin. */
export interface JobOutcome {
  exitCode: number;
  /** Why it failed, where its own words do not say so. */
  reason?: string;
}

/** Of a line without end, as programs print that draw a progress bar, so much is one. */
const MAX_LINE_CHARACTERS = 16_384;
/** Jobs that are asked to end have so long. */
const END_GRACE_MS = 2_000;

/** Runs a job's script on this machine, in its own copy of the checkout. */
export async function runOnHost(job: JobToRun, env: Readonly<Record<string, string | undefined>>): Promise<JobOutcome> {
  const child = spawn('sh', [`${job.scriptDir}/run`, job.scriptDir, job.workDir], {
    cwd: job.workDir,
    env: { ...env, ...job.variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: what it has started ends with it.
    detached: process.platform !== 'win32',
  });
  return { exitCode: await endOf(child, job) };
}

/** Resolves to the exit code once the child is gone; what it left in the background is ended. */
export function endOf(child: ChildProcess, { signal, onLine }: Pick<JobToRun, 'signal' | 'onLine'>): Promise<number> {
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
    // Not `close`: what goes on in the background may hold its output open for ever.
    child.once('exit', (code, by) => {
      signalGroup(child, 'SIGKILL');
      const settle = () => resolve(code ?? (by === 'SIGKILL' ? 137 : 143));
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
function readLines(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const parts = (rest + decoder.write(chunk)).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) tell(part);
    while (rest.length > MAX_LINE_CHARACTERS) {
      tell(rest.slice(0, MAX_LINE_CHARACTERS));
      rest = rest.slice(MAX_LINE_CHARACTERS);
    }
  });
  stream.once('close', () => {
    if (rest !== '') tell(rest);
    rest = '';
  });
  // Of what a progress bar draws over itself the last is what one sees.
  const tell = (line: string) => onLine(line.replace(/\r+$/, '').replace(/^.*\r/s, '').slice(0, MAX_LINE_CHARACTERS));
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // It has ended.
  }
}
