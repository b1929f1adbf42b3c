import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { reasonOf } from '../model/reason.ts';
import { ENGINE_LABEL } from './run-folder.ts';

/** How long an engine may take to say that it is there. */
const ASK_TIMEOUT_MS = 5_000;
const PROGRAMS = ['docker', 'podman'] as const;

export interface EngineCommandOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** Marks what is made. */
  mark: string;
}

/** A container engine, spoken to by its command. */
export class EngineCommand {
  readonly program: string;
  readonly #options: EngineCommandOptions;

  private constructor(program: string, options: EngineCommandOptions) {
    this.program = program;
    this.#options = options;
  }

  /** The engine that answers; or why none does. */
  static async find(options: EngineCommandOptions): Promise<EngineCommand | { absence: string }> {
    let absence = `neither ${PROGRAMS.join(' nor ')} is on the PATH`;
    for (const program of PROGRAMS) {
      const command = new EngineCommand(program, options);
      try {
        await command.run(['version', '--format', '{{.Server.Version}}'], {
          signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
        });
        return command;
      } catch (failure) {
        const isAbsent = failure instanceof Error && 'code' in failure && failure.code === 'ENOENT';
        if (!isAbsent) absence = reasonOf(failure);
      }
    }
    return { absence };
  }

  get labels(): string[] {
    return ['--label', `${ENGINE_LABEL}=${this.#options.mark}`];
  }

  /** What it prints; rejects with the last that it complained of. */
  async run(
    args: readonly string[],
    { signal, variables = {} }: { signal?: AbortSignal; variables?: Readonly<Record<string, string>> } = {},
  ): Promise<string> {
    const { stdout } = await promisify(execFile)(this.program, args, {
      env: { ...this.#options.env, ...variables },
      maxBuffer: Number.POSITIVE_INFINITY,
      ...(signal && { signal }),
    }).catch((failure) => {
      // One that could not be run, or was called off.
      if (typeof failure.code === 'string') throw failure;
      throw new Error(failure.stderr.trim().split('\n').at(-1) || `${this.program} ${args[0]} failed`);
    });
    return stdout.trim();
  }

  /** Has the engine the image? */
  hasImage(name: string, signal?: AbortSignal): Promise<boolean> {
    return this.run(['image', 'inspect', '--format', '{{.Id}}', name], signal && { signal }).then(
      () => true,
      () => false,
    );
  }

  /** A process of it whose output is the container's. */
  attach(args: readonly string[]) {
    return spawn(this.program, args, {
      env: { ...this.#options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    });
  }

  /** Is the image there, or can it be had? Rejects with the reason. */
  async demandImage(name: string, signal: AbortSignal, onPull: () => void): Promise<void> {
    if (await this.hasImage(name, signal)) return;
    signal.throwIfAborted();
    onPull();
    await this.run(['pull', '--quiet', name], { signal });
  }
}
