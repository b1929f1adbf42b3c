import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { SHELL_FOLDER, TestDesktop } from './electron-for-tests.ts';
import type { Addresses } from './ready-file.ts';
import type { ServerState } from './server-supervisor.ts';
import { type Shell, type ShellOptions, startShell } from './shell.ts';

/** A server takes a second; a machine that runs much else takes its time. */
export const START_TIMEOUT_MS = 30_000;
const PATIENTLY = { timeout: START_TIMEOUT_MS, interval: 20 };

const IN_MEMORY = ['--data', ':memory:', '--base-port', '0', '--gateway-port', '0', '--seed', 'empty'];
const NO_ENGINE = ['--containers-engine', 'none'];

/** A shell on a desktop of its own, with a real server. */
export class Bench {
  readonly desktop: TestDesktop;
  readonly folder: string;
  readonly printed: string[] = [];
  #shell: Shell | undefined;
  #runs = 0;

  private constructor(folder: string) {
    this.folder = folder;
    this.desktop = new TestDesktop(folder);
  }

  static async make(): Promise<Bench> {
    return new Bench(await mkdtemp(join(tmpdir(), 'terrarium shell ')));
  }

  /** Starts the shell; the server's arguments are for one in memory unless a test says otherwise. */
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
    if (!this.#shell) throw new Error('there is no shell');
    return this.#shell;
  }

  /** Waits until the server is in that phase. */
  reaches<P extends ServerState['phase']>(phase: P): Promise<ServerState & { phase: P }> {
    return vi.waitFor(() => {
      const { state } = this.shell.supervisor;
      if (state.phase !== phase) throw new Error(`it is ${JSON.stringify(state)}\n${this.printed.join('')}`);
      return state as ServerState & { phase: P }; // its phase was compared
    }, PATIENTLY);
  }

  /** Waits until the platform answers and the window shows it. */
  async runs(): Promise<Addresses> {
    const { addresses } = await this.reaches('running');
    await vi.waitFor(() => {
      if (this.desktop.window.isLoading) throw new Error('the window still loads');
    }, PATIENTLY);
    return addresses;
  }

  /** Kills the server as a crash would, and waits until that is known. */
  async crash(): Promise<void> {
    const { pid } = this.shell.supervisor;
    if (pid === undefined) throw new Error('no server runs');
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => {
      if (this.shell.supervisor.pid === pid) throw new Error('it lives on');
    }, PATIENTLY);
  }

  async close(): Promise<void> {
    await this.#shell?.supervisor.stop();
    for (const child of this.desktop.children) child.kill('SIGKILL');
    await rm(this.folder, { recursive: true });
  }
}

/** The text of a page that the shell made itself. */
export function pageText(url: string): string {
  return decodeURIComponent(url.replace(/^data:text\/html;charset=utf-8,/, ''));
}
