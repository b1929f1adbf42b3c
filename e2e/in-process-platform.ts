import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { StartEmulator, Terrarium, TerrariumOptions } from '../server/library/api.ts';
import { packageFile } from '../server/system/package-file.ts';
import { WindowPlatform } from './window-platform.ts';

const LIBRARY = pathToFileURL(packageFile('dist/server/library.js')).href;

/** A platform in this process, as a test suite starts it. Saves a second of processor time, and cannot crash. */
export class InProcessPlatform extends WindowPlatform {
  readonly dataDir: string;
  readonly #options: TerrariumOptions;
  readonly #faults: unknown[] = [];
  #emulator: Terrarium | undefined;

  /** @param folder for its world */
  constructor(folder: string, options: TerrariumOptions) {
    super();
    this.dataDir = join(folder, 'data');
    // As on a platform that is started by the command.
    this.#options = { outbound: { default: 'pass' }, ...options, data: this.dataDir };
  }

  override async start(): Promise<void> {
    const { startEmulator }: { startEmulator: StartEmulator } = await import(LIBRARY);
    const emulator = await startEmulator(
      { ...this.#options, ...this.ports },
      { onFault: (fault) => this.#faults.push(fault) },
    );
    this.#emulator = emulator;
    const { baseUrl, gatewayUrl } = emulator;
    this.ready = { baseUrl, gatewayUrl, windowUrl: emulator.windowUrl() };
  }

  /** Throws the first internal error that was returned as a 500. */
  override async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (signal === 'SIGKILL') throw new Error('it shares the process of the test: `test.use({ ownProcess: true })`');
    await this.#emulator?.stop();
    const [fault] = this.#faults.splice(0);
    if (fault !== undefined) throw fault;
  }
}
