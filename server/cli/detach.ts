import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { UserError } from '../config.ts';
import { type Config, IN_MEMORY } from '../config-schema.ts';
import { packageFile } from '../package-file.ts';
import { ExitWith, NO } from './exit-with.ts';
import { findInstance, type InstanceRecord } from './instance-file.ts';
import type { Terminal } from './terminal.ts';

const LOOK_EVERY_MS = 50;

/**
 * Starts a platform that goes on when this command has ended, and waits until it answers.
 *
 * @param args what stands behind `terrarium start`, without what asks for this
 * @throws ExitWith with what it said when it ended before; UserError for a world in memory, which nobody would find again
 */
export async function startDetached(
  { data }: Pick<Config, 'data'>,
  args: readonly string[],
  { env, folder }: Pick<Terminal, 'env' | 'folder'>,
): Promise<{ instance: InstanceRecord; log: string }> {
  if (data === IN_MEMORY) {
    throw new UserError(
      `--detach needs a data folder, by which other commands find the platform; --data is ${IN_MEMORY}`,
    );
  }
  // Only its owner may read it: the greeting tells the secret.
  const log = join(mkdtempSync(join(tmpdir(), 'terrarium-log-')), 'start.log');
  const output = openSync(log, 'a', 0o600);
  // What npm runs ends with npm; this is to go on.
  const { npm_lifecycle_event: _, ...inherited } = env;
  const child = spawn(process.execPath, [packageFile('dist/server/cli.js'), 'start', ...args], {
    cwd: folder,
    env: inherited,
    detached: true,
    stdio: ['ignore', output, output],
    windowsHide: true,
  });
  closeSync(output);
  const ended = new Promise<string>((resolve) => {
    child
      .on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
      .on('error', ({ message }) => resolve(message));
  });
  const instance = await Promise.race([untilReady(data, child), ended]);
  if (typeof instance === 'string') {
    const said = readFileSync(log, 'utf8')
      .trim()
      .replaceAll(/^terrarium: /gm, '');
    throw new ExitWith(child.exitCode || NO, said || `the platform ended with ${instance} before it was ready`);
  }
  child.unref();
  return { instance, log };
}

async function untilReady(dataDir: string, child: ChildProcess): Promise<InstanceRecord> {
  for (;;) {
    const found = await findInstance(dataDir);
    if (found?.pid === child.pid && found) return found;
    // Does not keep this process when the other one has ended.
    await delay(LOOK_EVERY_MS, undefined, { ref: false });
  }
}
