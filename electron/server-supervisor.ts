import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { stripVTControlCharacters } from 'node:util';
import { USER_FAILURE } from '../server/cli/describe-failure.ts';
import { STOP_MESSAGE } from '../server/cli/end-with-parent.ts';
import type { ServerChild } from './electron-parts.ts';

/** Addresses of a platform that is ready, as in its ready file. */
export interface Addresses {
  baseUrl: string;
  metaUrl: string;
  securityUrl: string;
  gatewayUrl: string;
  /** Signs in once. */
  windowUrl: string;
}

/** Delays before the restarts after crashes within a minute; after one more crash, the server is not restarted. */
const RESTART_DELAYS_MS = [500, 1_000, 2_000, 4_000, 8_000];
const CRASH_WINDOW_MS = 60_000;

/** The delay after the last of these crashes; undefined if the server must not be restarted. @param crashesAtMs in ascending order */
export function restartDelayMs(crashesAtMs: readonly number[], delaysMs = RESTART_DELAYS_MS): number | undefined {
  const last = crashesAtMs.at(-1) ?? 0;
  return delaysMs[crashesAtMs.filter((atMs) => last - atMs < CRASH_WINDOW_MS).length - 1];
}

/** State of the server. `output` contains its last lines. */
export type ServerState =
  | { phase: 'starting' }
  | { phase: 'running'; addresses: Addresses }
  | { phase: 'restarting'; reason: string; output: readonly string[]; delayMs: number }
  /** It will not start again unbidden. */
  | { phase: 'ended'; reason: string; output: readonly string[] };

export interface SupervisorOptions {
  /** Starts the server, which must write this ready file. */
  fork(readyFile: string): ServerChild;
  readyFile: string;
  onState(state: ServerState): void;
  /** Receives the server's output, such as for the terminal that the shell was started from. */
  onOutput?(text: string, stream: 'stdout' | 'stderr'): void;
  restartDelaysMs?: number[] | undefined;
}

const READY_TIMEOUT_MS = 120_000;
/** A server completes invocations and removes containers before it ends, for which it takes up to 35 s. */
const STOP_TIMEOUT_MS = 60_000;
const KEPT_LINES = 40;
/** The last output may arrive after the end; a lambda that is still running keeps the pipe open. */
const LAST_WORDS_TIMEOUT_MS = 500;

/** Keeps one server process running, or knows why it is not running. */
export class ServerSupervisor {
  readonly #options: SupervisorOptions;
  #state: ServerState = { phase: 'starting' };
  #child: ServerChild | undefined;
  #exited: Promise<void> = Promise.resolve();
  #crashesAtMs: number[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;
  #isOver = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  get state(): ServerState {
    return this.#state;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the server, unless it is running, and resets the crash count. Also the action of Retry. */
  start(): void {
    if (this.#child || this.#isStopping) return;
    clearTimeout(this.#timer);
    this.#crashesAtMs = [];
    this.#launch();
  }

  async restart(): Promise<void> {
    if (this.#isStopping) return;
    await this.#end();
    // The shell may have begun to quit in the meantime.
    if (this.#isOver) return;
    this.#isStopping = false;
    this.start();
  }

  /** Shuts the server down for good; kills it after a timeout. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (!child) return;
    child.postMessage(STOP_MESSAGE);
    const timer = setTimeout(() => killAtOnce(child), STOP_TIMEOUT_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  #launch(): void {
    this.#set({ phase: 'starting' });
    const { fork, readyFile, onOutput } = this.#options;
    const lines = new LastLines(KEPT_LINES);
    const exitController = new AbortController();
    const child = fork(readyFile);
    this.#child = child;
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        lines.add(text);
        onOutput?.(text, name);
      });
    }
    let troubleBefore: string | undefined;
    const timeout = AbortSignal.timeout(READY_TIMEOUT_MS);
    untilReady(readyFile, AbortSignal.any([exitController.signal, timeout])).then(
      (addresses) => {
        if (this.#child === child && !this.#isStopping) this.#set({ phase: 'running', addresses });
      },
      (failure) => {
        if (exitController.signal.aborted) return;
        troubleBefore = timeout.aborted ? `it was not ready within ${READY_TIMEOUT_MS / 1000} s` : String(failure);
        killAtOnce(child);
      },
    );
    this.#exited = new Promise((resolve) => {
      child.on('exit', (code) => {
        exitController.abort();
        // Removes the file of a killed server, or the next one would seem ready at once.
        void Promise.allSettled([rm(readyFile, { force: true }), untilSilent(child)]).then(() => {
          this.#child = undefined;
          resolve();
          if (!this.#isStopping) this.#ended(code, troubleBefore, lines.all());
        });
      });
    });
  }

  #ended(code: number, trouble: string | undefined, output: readonly string[]): void {
    const reason = trouble ?? `it ended with exit code ${code}`;
    if (!trouble && code === 0) {
      this.#set({ phase: 'ended', reason: 'the platform was stopped', output });
      return;
    }
    // The user must correct something first: an invalid setting, a port in use.
    if (!trouble && code === USER_FAILURE) {
      this.#set({ phase: 'ended', reason: 'the platform could not start', output });
      return;
    }
    this.#crashesAtMs.push(performance.now());
    const delayMs = restartDelayMs(this.#crashesAtMs, this.#options.restartDelaysMs);
    if (delayMs === undefined) {
      this.#set({ phase: 'ended', reason: `the platform crashed repeatedly; the last time, ${reason}`, output });
      return;
    }
    this.#set({ phase: 'restarting', reason, output, delayMs });
    this.#timer = setTimeout(() => this.#launch(), delayMs);
  }

  #set(state: ServerState): void {
    this.#state = state;
    this.#options.onState(state);
  }
}

/** Resolves when all output of the process has been read. */
async function untilSilent({ stdout, stderr }: ServerChild): Promise<void> {
  const ends = [stdout, stderr].map(async (stream) => {
    if (stream?.readable) await once(stream, 'end');
  });
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(() => setImmediate(resolve), LAST_WORDS_TIMEOUT_MS);
  });
  await Promise.race([Promise.allSettled(ends), timeout]);
  clearTimeout(timer);
}

function killAtOnce(child: ServerChild): void {
  try {
    if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
  } catch {
    // It has gone by itself.
  }
}

const LOOK_EVERY_MS = 50;

/** Waits until a server has written its ready file. Rejects when the signal is aborted. */
async function untilReady(file: string, signal: AbortSignal): Promise<Addresses> {
  for (;;) {
    signal.throwIfAborted();
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) return JSON.parse(text); // written whole by a server of the same build
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

const MAX_LINE_LENGTH = 2_000;

/** Keeps the last lines of a process's output. */
export class LastLines {
  readonly #max: number;
  #lines: string[] = [];
  #open = '';

  constructor(max: number) {
    this.#max = max;
  }

  add(text: string): void {
    const lines = (this.#open + text).split(/\r?\n/);
    this.#open = (lines.pop() ?? '').slice(0, MAX_LINE_LENGTH);
    this.#lines = [...this.#lines, ...lines.map(plainLine)].slice(-this.#max);
  }

  all(): string[] {
    return this.#open ? [...this.#lines, plainLine(this.#open)].slice(-this.#max) : this.#lines;
  }
}

function plainLine(line: string): string {
  return stripVTControlCharacters(line).slice(0, MAX_LINE_LENGTH);
}
