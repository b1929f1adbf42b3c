import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { PipelineJob } from '../model/pipeline-run.ts';
import { ExitWith, NO } from './exit-with.ts';
import { type JobVariable, variablesFile } from './job-variables.ts';
import type { Terminal } from './terminal.ts';

/** The runner ends by itself when it is asked to; then it has so long. */
const KILL_AFTER_MS = 5_000;

const listed = z.array(z.looseObject({ name: z.string(), stage: z.string(), when: z.string() }));

export interface PipelineProcessOptions {
  /** The repository. */
  dir: string;
  /** Later ones of a key and scope win. */
  variables: readonly JobVariable[];
  terminal: Pick<Terminal, 'env' | 'signals'>;
}

/** A pipeline in the runner that understands its definition, with a folder for its state outside the repository. */
export class PipelineProcess {
  readonly #options: PipelineProcessOptions;
  readonly #stateDir: string;

  private constructor(options: PipelineProcessOptions, stateDir: string) {
    this.#options = options;
    this.#stateDir = stateDir;
  }

  static async prepare(options: PipelineProcessOptions): Promise<PipelineProcess> {
    const stateDir = await mkdtemp(join(tmpdir(), 'terrarium-pipeline-'));
    // In a file for our eyes only: arguments are in everybody's list of processes, and the runner's own environment is for programs
    // that are not jobs, too.
    await writeFile(join(stateDir, 'variables.yml'), variablesFile(options.variables), { mode: 0o600 });
    return new PipelineProcess(options, stateDir);
  }

  /** The jobs of the definition, waiting. Throws ExitWith for a definition that cannot be read. */
  async jobs(only: readonly string[]): Promise<PipelineJob[]> {
    const output: string[] = [];
    const said: string[] = [];
    const exitCode = await this.#run(['--list-json'], (line, stream) =>
      (stream === 'stdout' ? output : said).push(line),
    );
    if (exitCode !== 0) throw new ExitWith(NO, `the pipeline's definition cannot be read: ${said.join('\n')}`);
    return listed
      .parse(JSON.parse(output.join('\n')))
      .filter(({ name, when }) => (only.length > 0 ? only.includes(name) : when !== 'never' && when !== 'manual'))
      .map(({ name, stage }) => ({ name, stage, state: 'waiting' }));
  }

  /** Runs the pipeline, or only the jobs that are named; resolves to its exit code. */
  run(only: readonly string[], onLine: (line: string) => void): Promise<number> {
    return this.#run([...only, '--timestamps'], onLine);
  }

  async end(): Promise<void> {
    await rm(this.#stateDir, { recursive: true, force: true });
  }

  #run(args: readonly string[], onLine: (line: string, stream: 'stdout' | 'stderr') => void): Promise<number> {
    const { dir, terminal } = this.#options;
    const runner = createRequire(import.meta.url).resolve('gitlab-ci-local/dist/index.js');
    const places = {
      '--state-dir': relative(dir, join(this.#stateDir, 'state')),
      '--variables-file': relative(dir, join(this.#stateDir, 'variables.yml')),
      '--home': this.#stateDir,
    };
    const words = [runner, '--force-shell-executor', ...args, ...Object.entries(places).flat()];
    // A group of its own: what a job has started ends with it. Without colours: the output is read.
    const child = spawn(process.execPath, words, {
      cwd: dir,
      env: { DOCKER_BUILDKIT: '0', ...withoutOurs(terminal.env), FORCE_COLOR: '0', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    });
    const lines = [
      createInterface({ input: child.stdout }).on('line', (line) => onLine(line, 'stdout')),
      createInterface({ input: child.stderr }).on('line', (line) => onLine(line, 'stderr')),
    ];
    const pass = (signal: NodeJS.Signals) => {
      const { pid } = child;
      if (pid === undefined) return;
      signalGroup(pid, signal);
      setTimeout(() => signalGroup(pid, 'SIGKILL'), KILL_AFTER_MS).unref();
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) terminal.signals.on(signal, pass);
    return new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(signal ? 130 : (code ?? 1)));
    }).finally(() => {
      for (const signal of signals) terminal.signals.off(signal, pass);
      for (const one of lines) one.close();
    });
  }
}

/** Jobs inherit what is left: how we were told to reach the platform, as root, is not for them. */
function withoutOurs(env: Terminal['env']): Terminal['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TERRARIUM_')));
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // It has ended.
  }
}
