import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '../../../system/programs.ts';
import { nodeFile } from '../../../system/this-system.ts';

export interface Executor {
  /** The program; undefined for the emulator's own Node. */
  execPath?: string;
  note?: string;
}

/** On a busy machine, a version manager's script takes seconds to find its program. */
const VERSION_TIMEOUT_MS = 30_000;
/** Oldest version of Node.js that the bundle of a lambda's process is built for. */
const OLDEST_MAJOR = 20;

/** True for `nodejs` or `node`, in any letter case, with or without a version (D-056). */
export function isNode(runtime: string): boolean {
  return /^node(js)?([^a-z].*)?$/i.test(runtime.trim());
}

/** Chooses the executable for a version of Node: a `node` of that major version if PATH has one, else the emulator's own (D-056). */
export class NodeVersions {
  readonly #searchPath: string;
  #found: Promise<Map<number, string>> | undefined;

  constructor(searchPath: string) {
    this.#searchPath = searchPath;
  }

  async executor(runtime: string): Promise<Executor> {
    const major = Number(/\d+/.exec(runtime)?.[0]);
    const ownMajor = Number.parseInt(process.versions.node, 10);
    if (!(major > 0) || major === ownMajor) return {};
    this.#found ??= this.#find();
    const execPath = major < OLDEST_MAJOR ? undefined : (await this.#found).get(major);
    if (execPath !== undefined) return { execPath };
    return {
      note: `no usable Node.js ${major} is on the PATH, so runtime '${runtime}' runs on Node.js ${process.versions.node}`,
    };
  }

  async #find(): Promise<Map<number, string>> {
    const found = new Map<number, string>();
    const name = nodeFile();
    for (const folder of this.#searchPath.split(path.delimiter).filter(path.isAbsolute)) {
      const file = path.join(folder, name);
      const major = await majorOf(file);
      if (major !== undefined && !found.has(major)) found.set(major, file);
    }
    return found;
  }
}

async function majorOf(file: string): Promise<number | undefined> {
  try {
    await access(file, constants.X_OK);
    const { stdout } = await runProgram(file, ['--version'], { timeout: VERSION_TIMEOUT_MS });
    const [, major] = /^v(\d+)\./.exec(stdout) ?? [];
    return major === undefined ? undefined : Number(major);
  } catch {
    // The file does not exist, or cannot run here.
    return undefined;
  }
}
