import { mkdir, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { World } from '../model/record.ts';
import type { StorageBackend, StoreFiles } from '../storage/files/files.ts';
import { keepPrivate, riskOfFolder } from '../storage/files/keep-private.ts';
import { type OpenKeyedLog, openKeyedLog } from '../storage/files/keyed-log.ts';
import { openStore } from '../storage/world/world-store.ts';
import { removeIfPossible } from '../system/files-in-use.ts';
import { makeTemporary } from '../system/temporary.ts';
import type { CleanupStack } from './cleanup-stack.ts';
import { type Config, IN_MEMORY } from './config-schema.ts';
import { type Logs, logs } from './declarations.ts';

/** Everything that a platform keeps, in its data folder or in memory. */
export type Data = Awaited<ReturnType<typeof openData>>;

export interface DataOptions {
  config: Config;
  createWorld(files: StoreFiles): Promise<World>;
  nowMs(): number;
  onWarning(message: string): void;
}

/** Opens or creates the data folder; `unwind` closes it. Throws StoreError if the folder is damaged, in use, or not usable. */
export async function openData({ config, createWorld, nowMs, onWarning }: DataOptions, cleanup: CleanupStack) {
  const isKept = config.data !== IN_MEMORY;
  const medium: StorageBackend = isKept ? { kind: 'folder', dir: config.data } : { kind: 'memory' };
  const { fsync } = config;
  const store = await openStore({ medium, createWorld, nowMs, fsync, retention: config.history, onWarning });
  cleanup.add(() => store.close());
  const { files } = store;
  // Not as it was named: a link in that name may point elsewhere tomorrow.
  const dir = isKept ? files.pathOf('.') : undefined;
  if (dir !== undefined) {
    await keepPrivate(dir, onWarning);
    await keepOutOfVersionControl(dir);
    const risk = riskOfFolder(dir, (await statfs(dir)).type);
    if (risk !== undefined) onWarning(risk);
  }
  const opened = new Map<string, OpenKeyedLog<unknown>>();
  const failures = () => {
    const health = store.health();
    return [
      health.isHealthy ? [] : health.message,
      [...opened.values()].flatMap(({ failure }) => failure?.message ?? []),
    ].flat();
  };
  const retry = () => {
    for (const part of [store, ...opened.values()]) part.retry();
  };
  const watch = watchStorage({ failures, retry, print: onWarning });
  cleanup.add(() => watch.stop());
  for (const [name, { caps }] of logs) {
    const log = await openKeyedLog(files, { name, fsync, caps, onWarning });
    cleanup.add(() => log.close());
    opened.set(name, log);
  }
  return {
    store,
    logs: Object.fromEntries(opened) as object as Logs, // each is opened as its name declares it
    folder: dir,
    /** The lambdas' own: homes, code, packages. */
    scratchFolder: await makeScratch(dir, cleanup),
    /** Throws when the folder is no longer ours, so that nothing in it may be touched. */
    checkFolder: () => files.check(),
    /** Returns the failures that keep changes from being saved, one sentence each (D-015). */
    failures: watch.look,
  };
}

async function makeScratch(dir: string | undefined, cleanup: CleanupStack): Promise<string> {
  if (dir === undefined) {
    const scratchDir = await makeTemporary('lambdas');
    cleanup.add(() => removeIfPossible(scratchDir));
    return scratchDir;
  }
  const scratchDir = path.join(dir, 'lambdas');
  await mkdir(scratchDir, { recursive: true, mode: 0o700 });
  return scratchDir;
}

/** The folder contains the first API key, and may be in a user's repository (docs/internals/decisions/data-folder.md). */
async function keepOutOfVersionControl(dir: string): Promise<void> {
  await writeFile(path.join(dir, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 }).catch(
    (failure: NodeJS.ErrnoException) => {
      if (failure.code !== 'EEXIST') throw failure;
    },
  );
}

/** The interval between checks that nothing requested. */
const LOOK_EVERY_MS = 1000;

/** Prints when nothing can be saved, and when it can be again: the user who removed the folder may be at this terminal. */
function watchStorage({
  failures,
  retry,
  print,
}: {
  failures(): readonly string[];
  retry(): void;
  print(message: string): void;
}) {
  let reported = new Set<string>();
  /** Returns the current failures, each once, and prints those that are new (D-015). */
  const look = (): string[] => {
    const present = new Set(failures());
    for (const failure of present) if (!reported.has(failure)) print(failure);
    if (present.size === 0 && reported.size > 0) print('The data folder can be written to again.');
    reported = present;
    return [...present];
  };
  const timer = setInterval(() => {
    if (look().length > 0) retry();
  }, LOOK_EVERY_MS).unref();
  return { look, stop: () => clearInterval(timer) };
}
