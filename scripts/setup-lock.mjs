import {
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const RETRY_EVERY_MS = 200;
const HEARTBEAT_EVERY_MS = 1_000;
/** A holder that has not touched its file for this long was killed, even if its process id is in use again. */
const DEAD_AFTER_MS = 15_000;
const GIVE_UP_AFTER_MS = 15 * 60_000;

/** Error codes when another process was faster; on Windows, also for files that are being removed. */
const LOST_RACE = ['EEXIST', 'ENOENT', 'ENOTEMPTY', ...(process.platform === 'win32' ? ['EPERM', 'EBUSY'] : [])];

/**
 * Runs `work` while no other process runs its own under the same lock; waits for that one otherwise.
 *
 * The lock is a folder with one file, named by the holder's process id and touched while it works. It is renamed into place with the file
 * in it, so two processes never take it. A dead holder's file is removed by its name, and the folder only if it is empty.
 *
 * @param {string} folder the lock; its parent is made when missing
 * @param {{onWait: () => void, work: () => Promise<void>}} options `onWait` is called once if another process has the lock
 */
export async function exclusively(folder, { onWait, work }) {
  const ownFolder = `${folder}-${process.pid}`;
  const fileName = String(process.pid);
  const giveUpAtMs = Date.now() + GIVE_UP_AFTER_MS;
  let isWaiting = false;
  mkdirSync(ownFolder, { recursive: true });
  try {
    writeFileSync(join(ownFolder, fileName), '');
    while (!takeLock(folder, ownFolder, fileName)) {
      if (clearDeadHolders(folder)) continue;
      if (Date.now() > giveUpAtMs) throw new Error(`gave up waiting for another setup: remove ${folder} and try again`);
      if (!isWaiting) onWait();
      isWaiting = true;
      await new Promise((resolve) => setTimeout(resolve, RETRY_EVERY_MS));
    }
  } finally {
    rmSync(ownFolder, { recursive: true, force: true });
  }
  const ownLock = join(folder, fileName);
  const heartbeat = setInterval(() => attempt(() => touch(ownLock)), HEARTBEAT_EVERY_MS);
  try {
    await work();
  } finally {
    clearInterval(heartbeat);
    attempt(() => unlinkSync(ownLock));
    attempt(() => rmdirSync(folder));
  }
}

/** Takes the lock if it is free, in one step: a folder that is not empty cannot be replaced. Returns false if it is in use. */
function takeLock(folder, ownFolder, fileName) {
  touch(join(ownFolder, fileName));
  return attempt(() => renameSync(ownFolder, folder));
}

const touch = (file) => utimesSync(file, new Date(), new Date());

/** Removes the lock if its holder is dead. Returns true if it is free. */
function clearDeadHolders(folder) {
  let holders = [];
  attempt(() => {
    holders = readdirSync(folder);
  });
  for (const holder of holders) if (isDead(folder, holder)) attempt(() => unlinkSync(join(folder, holder)));
  return attempt(() => rmdirSync(folder));
}

function isDead(folder, holder) {
  let touchedAtMs = Date.now();
  attempt(() => {
    touchedAtMs = statSync(join(folder, holder)).mtimeMs;
  });
  if (Date.now() - touchedAtMs > DEAD_AFTER_MS) return true;
  try {
    process.kill(Number(holder), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

/** Runs the action; returns false if another process was faster. */
function attempt(action) {
  try {
    action();
    return true;
  } catch (error) {
    if (LOST_RACE.includes(error.code)) return false;
    throw error;
  }
}
