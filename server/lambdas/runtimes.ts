import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** What runs the lambdas of a runtime. */
export interface Executor {
  /** The program; undefined for the emulator's own Node. */
  execPath?: string;
  /** What the lambda's log should say about it. */
  note?: string;
}

const VERSION_TIMEOUT_MS = 5_000;
/** What the bundle that a lambda's process starts with is made for. */
const OLDEST_MAJOR = 20;

/** Is it `nodejs` or `node`, in any letter case, with or without a version (D-056)? */
export function isNode(runtime: string): boolean {
  return /^node(js)?([^a-z].*)?$/i.test(runtime.trim());
}

/** What runs which version of Node: a `node` of that major where PATH has one, everything else the emulator's own (D-056). */
export class NodeVersions {
  readonly #searchPath: string;
  /** By major version, once looked for. */
  #found: Promise<Map<number, string>> | undefined;

  /** @param searchPath folders, as in PATH */
  constructor(searchPath: string) {
    this.#searchPath = searchPath;
  }

  async executor(runtime: string): Promise<Executor> {
    const major = Number(/\d+/.exec(runtime)?.[0]);
    const own = Number.parseInt(process.versions.node, 10);
    if (!(major > 0) || major === own) return {};
    this.#found ??= this.#find();
    const execPath = major < OLDEST_MAJOR ? undefined : (await this.#found).get(major);
    if (execPath !== undefined) return { execPath };
    return {
      note: `there is no node of version ${major} on PATH that can be used; runtime '${runtime}' runs on Node ${process.versions.node}`,
    };
  }

  async #find(): Promise<Map<number, string>> {
    const found = new Map<number, string>();
    const name = process.platform === 'win32' ? 'node.exe' : 'node';
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
    const { stdout } = await promisify(execFile)(file, ['--version'], { timeout: VERSION_TIMEOUT_MS });
    const [, major] = /^v(\d+)\./.exec(stdout) ?? [];
    return major === undefined ? undefined : Number(major);
  } catch {
    // It is not there, or is none that runs here.
    return undefined;
  }
}
