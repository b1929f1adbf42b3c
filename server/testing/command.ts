import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runCommandLine } from '../cli/program.ts';
import { type Terminal, writersTo } from '../cli/terminal.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const cli = join(root, 'dist', 'server', 'cli.js');

/** Builds the command if it is not up to date. */
export async function buildCommand(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(root, 'scripts', 'setup.mjs')]);
}

export interface CommandResult {
  exitCode: number;
  out: string;
  err: string;
}

/** A running `terrarium`. */
export interface RunningCommand {
  child: ChildProcess;
  /** Resolves when the process has ended and its output is complete. */
  ended: Promise<CommandResult>;
  /** Resolves to the output once it contains a text; rejects if the process ends without it. */
  waitForOutput(part: string): Promise<string>;
}

interface CommandOptions {
  env?: Record<string, string>;
  input?: string;
  /** The working folder (default: the folder of the runner). */
  folder?: string;
}

/** A folder to run the command in, for one test file. Processes started in it end with it. */
export class CliRunner {
  readonly folder = mkdtempSync(join(tmpdir(), 'terrarium command '));
  readonly #running = new Set<ChildProcess>();

  /** The command for a POSIX shell, without arguments. */
  static readonly command = `'${process.execPath}' '${cli}'`;

  /** Runs `terrarium ARGS`. */
  start(args: readonly string[], { env = {}, input, folder = this.folder }: CommandOptions = {}): RunningCommand {
    const child = spawn(process.execPath, [cli, ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env },
    });
    this.#running.add(child);
    child.stdin.end(input);
    const output = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      output.out += more;
    });
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      output.err += more;
    });
    const ended = once(child, 'close').then(([exitCode]) => {
      this.#running.delete(child);
      return { exitCode, ...output };
    });
    const fail = ({ err }: CommandResult): never => {
      throw new Error(`the command ended early: ${err}`);
    };
    const waitForOutput = async (part: string) => {
      while (!output.out.includes(part)) await Promise.race([once(child.stdout, 'data'), ended.then(fail)]);
      return output.out;
    };
    return { child, ended, waitForOutput };
  }

  /** Runs `terrarium ARGS` to its end in a separate process. */
  run(args: readonly string[], options?: CommandOptions): Promise<CommandResult> {
    return this.start(args, options).ended;
  }

  /**
   * Runs `terrarium ARGS` to its end in this process, in a tenth of the time. For commands that only call a running platform; use `run` for
   * commands that start processes or handle signals.
   *
   * @param options.answer of the user to each question; without it, there is no user
   */
  async runInProcess(
    args: readonly string[],
    { env = {}, input = '', folder = this.folder, answer }: CommandOptions & { answer?: string } = {},
  ): Promise<CommandResult> {
    const [out, err] = [new PassThrough(), new PassThrough()];
    const unavailable = () =>
      Promise.reject(new Error('commands in this process cannot start a platform or prompt the user'));
    const terminal: Terminal = {
      ...writersTo(out, err, { isScreen: false, hasColour: false }),
      readInput: async () => input,
      readKeys: () => () => {},
      ask: answer === undefined ? unavailable : async () => answer,
      signals: new EventEmitter(),
      exit: (code) => {
        throw new Error(`the command ended the process with ${code}`);
      },
      nowMs: () => performance.now(),
      env: { PATH: process.env.PATH, ...env },
      folder,
      pid: process.pid,
      nodeVersion: process.versions.node,
      hasColour: false,
      isInteractive: answer !== undefined,
    };
    const exitCode = await runCommandLine(args, terminal, unavailable);
    return { exitCode, out: await text(out.end()), err: await text(err.end()) };
  }

  /** The JSON output of `terrarium ARGS --json` in this process; throws if the command prints anything else or fails. */
  async json(...args: string[]) {
    const { exitCode, out, err } = await this.runInProcess([...args, '--json']);
    if (exitCode !== 0 || err !== '') throw new Error(`exit code ${exitCode}: ${err}`);
    return JSON.parse(out);
  }

  async close(): Promise<void> {
    const running = [...this.#running];
    for (const child of running) child.kill('SIGKILL');
    await Promise.all(
      running.map((child) => child.exitCode === null && child.signalCode === null && once(child, 'exit')),
    );
    rmSync(this.folder, { recursive: true, maxRetries: 3 });
  }
}
