import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { isOlderNode } from '../system/node-version.ts';
import type { Terminal } from './terminal.ts';

/**
 * The path of Electron's binary; or why it is missing and, if it can be downloaded, the folder of Electron's package to download it
 * into.
 */
export type ElectronBinary = { path: string } | { missing: string; fetchInto?: string };

const manifest = z.looseObject({ engines: z.looseObject({ node: z.string() }) });

/** Finds Electron without loading its package, which downloads the binary as soon as it is loaded. */
export function findElectron(
  { env, nodeVersion }: Pick<Terminal, 'env' | 'nodeVersion'>,
  folder = electronFolder(),
): ElectronBinary {
  if (folder === undefined)
    return { missing: 'Electron is not installed (to install it: npm install --save-dev electron)' };
  const override = env.ELECTRON_OVERRIDE_DIST_PATH;
  const named = join(folder, 'path.txt');
  if (override || existsSync(named)) {
    const name = existsSync(named) ? readFileSync(named, 'utf8').trim() : 'electron';
    const path = join(override || join(folder, 'dist'), name);
    if (existsSync(path)) return { path };
    if (override) return { missing: `Electron's binary is not installed in ${override}` };
  }
  const missing = "Electron's binary is not installed";
  if (env.ELECTRON_SKIP_BINARY_DOWNLOAD) return { missing: `${missing}, and ELECTRON_SKIP_BINARY_DOWNLOAD is set` };
  const wanted = nodeWantedBy(folder);
  if (isOlderNode(nodeVersion, wanted))
    return { missing: `${missing}, and its download requires Node.js ${wanted} or later (this is ${nodeVersion})` };
  return { missing: `${missing} yet`, fetchInto: folder };
}

function electronFolder(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve('electron/package.json'));
  } catch {
    return undefined;
  }
}

function nodeWantedBy(folder: string): string {
  const { engines } = manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  return engines.node.replace(/^\D+/, '');
}
