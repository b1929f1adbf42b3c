import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runCommandLine } from './program.ts';
import { type Terminal, writersTo } from './terminal.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const cli = join(root, 'dist', 'server', 'cli.js');

/** Builds the command as it is shipped, if it is stale. */
export async function buildCommand(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(root, 'scripts', 'setup.mjs')]);
}

/** How long that may take, milliseconds. */
export const BUILD_TIMEOUT_MS = 120_000;

export interface Ended {
  exitCode: number;
  out: string;
  err: string;
}

/** A running `terrarium`. */
export interface Run {
  child: ChildProcess;
  /** Resolves when it has ended and its output is complete. */
  ended: Promise<Ended>;
  /** Resolves to what it has printed once that holds a text; rejects when it ends without. */
  said(part: string): Promise<string>;
}

/** A folder to run the command in, for one test file. What was started in it ends with it. */
export class Workplace {
  readonly folder = mkdtempSync(join(tmpdir(), 'terrarium command '));
  readonly #running = new Set<ChildProcess>();

  /** What a person would write in front of the arguments, for a POSIX shell. */
  static readonly command = `'${process.execPath}' '${cli}'`;

  /** Runs `terrarium ARGS`. */
  start(args: readonly string[], { env = {}, input }: { env?: Record<string, string>; input?: string } = {}): Run {
    const child = spawn(process.execPath, [cli, ...args], {
      cwd: this.folder,
      env: { PATH: process.env.PATH, ...env },
    });
    this.#running.add(child);
    child.stdin.end(input);
    const printed = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      printed.out += more;
    });
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      printed.err += more;
    });
    const ended = once(child, 'close').then(([exitCode]) => {
      this.#running.delete(child);
      return { exitCode, ...printed };
    });
    const fail = ({ err }: Ended): never => {
      throw new Error(`it ended before its time: ${err}`);
    };
    const said = async (part: string) => {
      while (!printed.out.includes(part)) await Promise.race([once(child.stdout, 'data'), ended.then(fail)]);
      return printed.out;
    };
    return { child, ended, said };
  }

  /** Runs `terrarium ARGS` to its end, in a process of its own. */
  run(args: readonly string[], options?: { env?: Record<string, string>; input?: string }): Promise<Ended> {
    return this.start(args, options).ended;
  }

  /**
   * Runs `terrarium ARGS` to its end in this process, for a tenth of the computing: what only asks a platform that runs already.
   * What starts processes, hears signals or is about its process needs `run`.
   */
  async runHere(
    args: readonly string[],
    { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {},
  ): Promise<Ended> {
    const [out, err] = [new PassThrough(), new PassThrough()];
    const nobody = () => Promise.reject(new Error('no platform and no person is in this process'));
    const terminal: Terminal = {
      ...writersTo(out, err, { isScreen: false, hasColour: false }),
      readInput: async () => input,
      ask: nobody,
      signals: new EventEmitter(),
      exit: (code) => {
        throw new Error(`it ends the process with ${code}`);
      },
      nowMs: () => performance.now(),
      env: { PATH: process.env.PATH, ...env },
      folder: this.folder,
      pid: process.pid,
      nodeVersion: process.versions.node,
      hasColour: false,
      isInteractive: false,
    };
    const exitCode = await runCommandLine(args, terminal, nobody);
    return { exitCode, out: await text(out.end()), err: await text(err.end()) };
  }

  /** The JSON that `terrarium ARGS --json` prints, in this process; throws unless that is all it does, and ends with 0. */
  async json(...args: string[]) {
    const { exitCode, out, err } = await this.runHere([...args, '--json']);
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
