import { type ChildProcess, spawn } from 'node:child_process';
import type { Emulator } from '../emulator.ts';
import type { Terminal } from './terminal.ts';

/** Of what it complained of, so much is told. */
const KEPT_COMPLAINT_CHARACTERS = 2_000;

/** Names in a run's environment who has begun it. */
export const STARTED_BY = 'TERRARIUM_PIPELINE_STARTED_BY';

/** `terrarium pipeline demo` for the window: a process of its own beside the platform, one at a time. */
export class DemoPipeline {
  readonly #terminal: Pick<Terminal, 'env' | 'folder'>;
  #child: ChildProcess | undefined;

  constructor(terminal: Pick<Terminal, 'env' | 'folder'>) {
    this.#terminal = terminal;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /** Resolves when it has ended well; rejects with what it complained of. `signal` ends it early. */
  async run(
    { baseUrl, dataDir, rootCredentials }: Pick<Emulator, 'baseUrl' | 'dataDir' | 'rootCredentials'>,
    { startedBy, signal }: { startedBy: string; signal: AbortSignal },
  ): Promise<void> {
    const { apiKey, apiSecret } = rootCredentials;
    // The secret is known to the run that made it; later ones find it in the data folder.
    const where = apiSecret === undefined ? ['--data', dataDir] : ['--base-url', baseUrl];
    const env = {
      ...this.#terminal.env,
      [STARTED_BY]: startedBy,
      ...(apiSecret !== undefined && { TERRARIUM_API_KEY: apiKey, TERRARIUM_API_SECRET: apiSecret }),
    };
    const command = [...process.execArgv, process.argv[1] ?? '', 'pipeline', 'demo', ...where];
    const child = spawn(process.execPath, command, {
      env,
      cwd: this.#terminal.folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    const end = () => child.kill('SIGTERM');
    signal.addEventListener('abort', end);
    let complaint = '';
    child.stderr.on('data', (text) => {
      complaint = `${complaint}${text}`.slice(-KEPT_COMPLAINT_CHARACTERS);
    });
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    }).finally(() => {
      signal.removeEventListener('abort', end);
      this.#child = undefined;
    });
    if (exitCode !== 0)
      throw new Error(complaint.replace(/^terrarium: /, '').trim() || `it ended with exit code ${exitCode}`);
  }

  /** Ends it; resolves when it is gone. */
  async stop(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const gone = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGTERM');
    await gone;
  }
}
