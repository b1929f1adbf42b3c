import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { Addresses, ServerState } from '../server-supervisor.ts';
import { type Shell, type ShellOptions, startShell } from '../shell.ts';
import { SHELL_FOLDER, TestDesktop } from './desktop.ts';

/** A server starts in a second, but a busy machine needs longer. */
export const START_TIMEOUT_MS = 30_000;
const PATIENTLY = { timeout: START_TIMEOUT_MS, interval: 20 };

const IN_MEMORY = ['--data', ':memory:', '--base-port', '0', '--gateway-port', '0', '--seed', 'empty'];
const NO_ENGINE = ['--containers-engine', 'none'];

/** A shell on a fake desktop, with a real server. */
export class ShellHarness {
  readonly desktop: TestDesktop;
  readonly folder: string;
  readonly printed: string[] = [];
  #shell: Shell | undefined;
  #runs = 0;

  private constructor(folder: string) {
    this.folder = folder;
    this.desktop = new TestDesktop(folder);
  }

  static async make(): Promise<ShellHarness> {
    return new ShellHarness(await mkdtemp(join(tmpdir(), 'terrarium shell ')));
  }

  /** Starts the shell; by default with a server in memory. */
  async start(options: Partial<ShellOptions> = {}): Promise<Shell | undefined> {
    this.#shell = await startShell({
      electron: this.desktop.parts(),
      folder: SHELL_FOLDER,
      serverArguments: [...IN_MEMORY, ...NO_ENGINE],
      argv: ['electron', 'main.js'],
      env: { PATH: process.env.PATH },
      platform: 'linux',
      workFolder: this.folder,
      pid: ++this.#runs,
      print: (text) => this.printed.push(text),
      ...options,
    });
    return this.#shell;
  }

  get shell(): Shell {
    if (!this.#shell) throw new Error('the shell is not started');
    return this.#shell;
  }

  reaches<P extends ServerState['phase']>(phase: P): Promise<ServerState & { phase: P }> {
    return vi.waitFor(() => {
      const { state } = this.shell.supervisor;
      if (state.phase !== phase) throw new Error(`it is ${JSON.stringify(state)}\n${this.printed.join('')}`);
      return state as ServerState & { phase: P }; // its phase was compared
    }, PATIENTLY);
  }

  /** Waits until the platform is ready and the window shows it. */
  async runs(): Promise<Addresses> {
    const { addresses } = await this.reaches('running');
    await vi.waitFor(() => {
      if (this.desktop.window.isLoading) throw new Error('the window still loads');
    }, PATIENTLY);
    return addresses;
  }

  /** Kills the server like a crash, and waits until the shell has noticed. */
  async crash(): Promise<void> {
    const { pid } = this.shell.supervisor;
    if (pid === undefined) throw new Error('no server is running');
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => {
      if (this.shell.supervisor.pid === pid) throw new Error('the server is still running');
    }, PATIENTLY);
  }

  async close(): Promise<void> {
    await this.#shell?.supervisor.stop();
    for (const child of this.desktop.children) child.kill('SIGKILL');
    await rm(this.folder, { recursive: true });
  }
}

/** The text of a message page of the shell. */
export function pageText(url: string): string {
  return decodeURIComponent(url.replace(/^data:text\/html;charset=utf-8,/, ''));
}
