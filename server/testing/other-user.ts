import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A user of this machine without any permissions. */
export const OTHER_USER_ID = 65_534;

const isRoot = process.getuid?.() === 0;

/** Only root can start a process of another user. In CI, tests run as root. */
export const canBeOtherUser = isRoot || process.env.CI === 'true';
if (!canBeOtherUser) console.warn('Tests as another user of this machine are skipped: they must run as root.');

/** Runs a script with Node.js as another user of this machine. Resolves to its output; rejects if it fails. */
export async function runAsOtherUser(script: string, ...args: string[]): Promise<string> {
  const options = { uid: OTHER_USER_ID, gid: OTHER_USER_ID, cwd: '/', env: { PATH: process.env.PATH } };
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script, ...args], options);
  return stdout;
}
