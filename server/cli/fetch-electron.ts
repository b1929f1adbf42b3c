import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { removeIfPossible } from '../system/files-in-use.ts';
import { homeFolder } from '../system/nearest-folder.ts';
import { isAlive } from '../system/processes.ts';
import { startProgram } from '../system/programs.ts';
import { makeTemporary } from '../system/temporary.ts';
import type { WindowChoice, WindowContext } from './choose-window.ts';
import type { Terminal } from './terminal.ts';

/** Enough for 100 MB at 2 Mbit/s. */
const LIMIT_MS = 10 * 60_000;
/** Lock file in the package's folder; contains the pid of the process that downloads. */
const LOCK = '.terrarium-fetching';

/** Downloads like Electron's own installer, but reports the cause of a failure; then runs it, which unpacks from its cache. */
const SCRIPT = `
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
const require = createRequire(process.argv[1]);
const { env } = process;
const isRemote = env.electron_use_remote_checksums || env.npm_config_electron_use_remote_checksums;
try {
  const { downloadArtifact } = await import(pathToFileURL(require.resolve('@electron/get')).href);
  await downloadArtifact({
    version: require('./package.json').version,
    artifactName: 'electron',
    cacheRoot: env.electron_config_cache,
    checksums: isRemote ? undefined : require('./checksums.json'),
    downloadOptions: { quiet: true, getProgressCallback: async () => console.log('downloading') },
  });
} catch (failure) {
  console.error(failure.cause?.message || failure.cause?.code || failure.message);
  process.exit(1);
}
require('./install.js');
`;

export interface FetchOptions {
  env: Terminal['env'];
  signal: AbortSignal;
  limitMs?: number;
  /** Called when the first data arrives: not if the archive is in the cache, unless its checksum is remote. */
  onDownload?(): void;
}

/** Downloads Electron's binary into the folder of its package. Throws Error with the reason. An incomplete download leaves nothing behind. */
export async function fetchElectron(
  folder: string,
  { env, signal, limitMs = LIMIT_MS, onDownload = () => undefined }: FetchOptions,
): Promise<void> {
  const lock = join(folder, LOCK);
  await takeLock(lock);
  try {
    const temp = await makeTemporary('electron');
    try {
      const home = homeFolder() === undefined && { HOME: temp };
      const ownEnv = { ...home, ...env, TMPDIR: temp, TEMP: temp, TMP: temp };
      await runFetch(folder, { env: ownEnv, signal, limitMs, onDownload });
    } finally {
      await removeIfPossible(temp);
    }
  } finally {
    await rm(lock, { force: true });
  }
}

async function runFetch(folder: string, { env, signal, limitMs, onDownload }: Required<FetchOptions>): Promise<void> {
  const late = AbortSignal.timeout(limitMs);
  const child = startProgram(
    process.execPath,
    ['--input-type=module', '--eval', SCRIPT, join(folder, 'package.json')],
    {
      env,
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: AbortSignal.any([signal, late]),
      killSignal: 'SIGKILL',
    },
  );
  child.on('error', () => undefined); // reported by `close`, too
  child.stdout.once('data', onDownload).resume();
  const errorOutput = text(child.stderr);
  // Not `once`: it rejects on abort, while the child may still be running.
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (exitCode === 0) return;
  if (late.aborted) throw new Error(`timeout after ${Math.round(limitMs / 1_000)} s`);
  throw new Error((await errorOutput).trim().split('\n', 1)[0] || "Electron's installer failed without a message");
}

/** Prevents two processes from unpacking at the same time. Throws if another process is downloading, or the file cannot be written. */
async function takeLock(lock: string): Promise<void> {
  for (const isLast of [false, true]) {
    try {
      return await writeFile(lock, String(process.pid), { flag: 'wx' });
    } catch (failure) {
      const { code, message } = failure as NodeJS.ErrnoException;
      if (code !== 'EEXIST') throw new Error(message);
      const owner = Number(await readFile(lock, 'utf8').catch(() => ''));
      if (isLast || (owner > 0 && isAlive(owner))) throw new Error(`process ${owner} is already downloading it`);
      await rm(lock, { force: true });
    }
  }
}

/** Downloads Electron's binary if a browser shows the window only because it is missing. Returns a function that stops the download. */
export function fetchInBackground(
  window: WindowChoice,
  { electron, window: windowSetting }: Pick<WindowContext, 'electron' | 'window'>,
  { env, print }: Pick<Terminal, 'env' | 'print'>,
): () => Promise<void> {
  const folder = 'fetchInto' in electron ? electron.fetchInto : undefined;
  const isBrowser = window.kind === 'app' || window.kind === 'browser';
  if (!isBrowser || folder === undefined || windowSetting === 'browser') return async () => undefined;
  const stop = new AbortController();
  const onDownload = () =>
    print(
      'Downloading Electron (about 100 MB) in the background. The next start opens the window in it (to keep using the browser: --window browser).',
    );
  const done = fetchElectron(folder, { env, signal: stop.signal, onDownload }).then(
    () => print('Electron is downloaded. The next start opens the window in it.'),
    ({ message }: Error) => {
      if (!stop.signal.aborted)
        print(`Electron could not be downloaded (${message}). The window stays in the browser.`);
    },
  );
  return () => {
    stop.abort();
    return done;
  };
}
