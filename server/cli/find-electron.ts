import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { isOlderNode } from '../machine/node-version.ts';
import type { Terminal } from './terminal.ts';

/**
 * Where Electron's binary is; or why it is not there, and, if it could be had, the folder of Electron's package that it is fetched
 * into.
 */
export type ElectronBinary = { path: string } | { missing: string; fetchInto?: string };

const manifest = z.looseObject({ engines: z.looseObject({ node: z.string() }) });

/** Looks for it. The package itself is not asked: it downloads what is missing as soon as somebody asks it. */
export function findElectron(
  { env, nodeVersion }: Pick<Terminal, 'env' | 'nodeVersion'>,
  folder = electronFolder(),
): ElectronBinary {
  if (folder === undefined)
    return { missing: 'Electron is not installed (npm install --save-dev electron brings its package)' };
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
    return { missing: `${missing}, and to fetch it takes Node ${wanted} or newer (this is ${nodeVersion})` };
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
