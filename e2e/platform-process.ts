import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageFile } from '../server/system/package-file.ts';
import { WindowPlatform } from './window-platform.ts';

const CLI = packageFile('dist/server/cli.js');
const READY_LIMIT_MS = 60_000;

/** The environment of the command. */
interface ProcessContext {
  /** The working folder. */
  cwd?: string;
  /** Additional environment variables. */
  env?: Readonly<Record<string, string>>;
}

/** A platform that runs in a separate process, as on the command line. It can crash. */
export class PlatformProcess extends WindowPlatform {
  readonly dataDir: string;
  readonly #folder: string;
  readonly #args: readonly string[];
  readonly #context: ProcessContext;
  #server: ChildProcess | undefined;

  /** @param folder for its world and its ready file */
  constructor(folder: string, args: readonly string[], context: ProcessContext = {}) {
    super();
    this.dataDir = join(folder, 'data');
    this.#folder = folder;
    this.#args = args;
    this.#context = context;
  }

  override async start(): Promise<void> {
    const file = join(this.#folder, 'ready.json');
    await rm(file, { force: true });
    const { basePort, gatewayPort } = this.ports;
    const ports = ['--base-port', String(basePort), '--gateway-port', String(gatewayPort)];
    const args = [...ports, '--ready-file', file, '--data', this.dataDir, ...this.#args];
    const server = spawn(process.execPath, [CLI, 'start', '--headless', ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: this.#context.cwd,
      env: { ...process.env, ...this.#context.env },
    });
    this.#server = server;
    let output = '';
    server.stderr.on('data', (text) => {
      output += text;
    });
    for (const untilMs = Date.now() + READY_LIMIT_MS; Date.now() < untilMs; await pause(50)) {
      if (server.exitCode !== null) break;
      const text = await readFile(file, 'utf8').catch(() => undefined);
      if (text === undefined) continue;
      this.ready = JSON.parse(text);
      return;
    }
    throw new Error(`the platform did not start: ${output}`);
  }

  override async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const server = this.#server;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await ended;
  }
}
