import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { isAlive } from '../machine/processes.ts';
import { jsonIn } from '../model/json.ts';
import type { Terminal } from './terminal.ts';

/** A hundred megabytes over a line of two megabits. */
const LIMIT_MS = 10 * 60_000;
/** Whoever holds this file, in the package's folder, is fetching. */
const LOCK = '.terrarium-fetching';

/**
 * Downloads as Electron's own installer does, but tells how it gets on; then lets that installer unpack what lies in its cache.
 * Mirrors, proxies, checksums and the cache are as its variables say.
 */
const SCRIPT = `
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
const require = createRequire(process.argv[1]);
const { env } = process;
const isRemote = env.electron_use_remote_checksums || env.npm_config_electron_use_remote_checksums;
let told = -1;
try {
  const { downloadArtifact } = await import(pathToFileURL(require.resolve('@electron/get')).href);
  await downloadArtifact({
    version: require('./package.json').version,
    artifactName: 'electron',
    cacheRoot: env.electron_config_cache,
    checksums: isRemote ? undefined : require('./checksums.json'),
    downloadOptions: {
      quiet: true,
      async getProgressCallback({ transferred, total }) {
        const percent = Math.floor((100 * transferred) / (total ?? Infinity));
        if (!total || percent === told) return;
        told = percent;
        console.log(JSON.stringify({ percent, totalBytes: total }));
      },
    },
  });
} catch (failure) {
  console.error(failure.cause?.message || failure.cause?.code || failure.message);
  process.exit(1);
}
require('./install.js');
`;

const progressSchema = z.object({ percent: z.number(), totalBytes: z.number() });

export interface FetchOptions {
  env: Terminal['env'];
  signal: AbortSignal;
  limitMs?: number;
  /** Called as it gets on, at each percent at most. */
  onProgress(progress: { percent: number; totalBytes: number }): void;
}

/**
 * Fetches Electron's binary into the folder of Electron's package; what it has begun and not ended is as if it had not been.
 *
 * @throws Error that says why it could not
 */
export async function fetchElectron(
  folder: string,
  { env, signal, limitMs = LIMIT_MS, onProgress }: FetchOptions,
): Promise<void> {
  const lock = join(folder, LOCK);
  await takeLock(lock);
  try {
    const temp = await mkdtemp(join(tmpdir(), 'terrarium-electron-'));
    try {
      await runFetch(folder, { env: { ...env, TMPDIR: temp, TEMP: temp, TMP: temp }, signal, limitMs, onProgress });
    } finally {
      await rm(temp, { recursive: true, force: true, maxRetries: 3 });
    }
  } finally {
    await rm(lock, { force: true });
  }
}

async function runFetch(folder: string, { env, signal, limitMs, onProgress }: Required<FetchOptions>): Promise<void> {
  const late = AbortSignal.timeout(limitMs);
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT, join(folder, 'package.json')], {
    env,
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.any([signal, late]),
    killSignal: 'SIGKILL',
  });
  child.on('error', () => undefined); // it tells of the signal, and of nothing that `close` does not
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { success, data } = progressSchema.safeParse(jsonIn(line));
    if (success) onProgress(data);
  });
  const said = text(child.stderr);
  // Not `once`: that rejects at the word of the signal, when the child may still be there.
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (exitCode === 0) return;
  if (late.aborted) throw new Error(`it took longer than ${Math.round(limitMs / 1_000)} s`);
  throw new Error((await said).trim().split('\n', 1)[0] || 'its installer ended without a word');
}

/** Two that unpack at a time would get into each other's way. Throws where another one is at it, or nothing can be written. */
async function takeLock(lock: string): Promise<void> {
  for (const isLast of [false, true]) {
    try {
      return await writeFile(lock, String(process.pid), { flag: 'wx' });
    } catch (failure) {
      const { code, message } = failure as NodeJS.ErrnoException;
      if (code !== 'EEXIST') throw new Error(message);
      const holder = Number(await readFile(lock, 'utf8').catch(() => ''));
      if (isLast || (holder > 0 && isAlive(holder))) throw new Error(`process ${holder} is fetching it`);
      await rm(lock, { force: true });
    }
  }
}
