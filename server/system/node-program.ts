import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { nodeFile } from './this-system.ts';

/** The oldest version of Node.js that Terrarium works with, as in package.json. */
const OLDEST = /[\d.]+/.exec(manifest.engines.node)?.[0] ?? '';
/** On a busy machine, a version manager's script takes seconds to find its program. */
const VERSION_TIMEOUT_MS = 30_000;

/** The name of the runtime of this process if it is not Node.js, such as `Bun 1.4.5`. */
export function otherRuntime(versions: Readonly<Record<string, string | undefined>>): string | undefined {
  if (versions.bun !== undefined) return `Bun ${versions.bun}`;
  return versions.deno === undefined ? undefined : `Deno ${versions.deno}`;
}

/** Bun and Deno do not let a lambda's calls be intercepted: under them it is the first new enough `node` of the search path, if any. */
export function nodeProgram(
  searchPath: string,
  isOther = otherRuntime(process.versions) !== undefined,
): string | undefined {
  if (!isOther) return process.execPath;
  const ownProgram = realpathSync(process.execPath);
  const files = searchPath.split(path.delimiter).filter(path.isAbsolute);
  return files
    .map((folder) => path.join(folder, nodeFile()))
    .find((file) => isNewEnough(file) && realpathSync(file) !== ownProgram);
}

export const missingNode = (): string =>
  `lambdas need Node.js: the platform runs under ${otherRuntime(process.versions)}, and PATH has no node of version ${OLDEST} or later`;

function isNewEnough(file: string): boolean {
  const options = { encoding: 'utf8', timeout: VERSION_TIMEOUT_MS, windowsHide: true } as const;
  const [, version] = /^v([\d.]+)$/m.exec(spawnSync(file, ['--version'], options).stdout ?? '') ?? [];
  return version !== undefined && !isOlderNode(version, OLDEST);
}

/** Compares digits only, because loading the collation of Intl would slow down the start. */
export function isOlderNode(version: string, than: string): boolean {
  const [ownParts, other] = [version, than].map((text) => text.split('.').map(Number));
  for (let at = 0; at < 3; at += 1) {
    const difference = (ownParts?.[at] ?? 0) - (other?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
