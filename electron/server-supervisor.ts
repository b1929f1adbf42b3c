import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { USER_FAILURE } from '../server/cli/describe-failure.ts';
import { STOP_MESSAGE } from '../server/cli/end-with-parent.ts';
import type { ServerChild } from './electron-parts.ts';
import { LastLines } from './last-lines.ts';
import { RESTART_POLICY, type RestartPolicy, restartDelayMs } from './restart-policy.ts';
import { type Addresses, untilReady } from './until-ready.ts';

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
  policy?: RestartPolicy;
  readyTimeoutMs?: number;
  stopTimeoutMs?: number;
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
    const timer = setTimeout(() => killAtOnce(child), this.#options.stopTimeoutMs ?? STOP_TIMEOUT_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  #launch(): void {
    this.#set({ phase: 'starting' });
    const { fork, readyFile, onOutput, readyTimeoutMs = READY_TIMEOUT_MS } = this.#options;
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
    const timeout = AbortSignal.timeout(readyTimeoutMs);
    untilReady(readyFile, AbortSignal.any([exitController.signal, timeout])).then(
      (addresses) => {
        if (this.#child === child && !this.#isStopping) this.#set({ phase: 'running', addresses });
      },
      (failure: unknown) => {
        if (exitController.signal.aborted) return;
        troubleBefore = timeout.aborted
          ? `it was not ready within ${readyTimeoutMs / 1000} s`
          : `its ready file is not valid: ${String(failure)}`;
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
    const policy = this.#options.policy ?? RESTART_POLICY;
    const delayMs = restartDelayMs(policy, this.#crashesAtMs);
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
