import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { isAlive } from '../../testing/is-alive.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'terrarium-orphans-'));
  await build({
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL('../../testing/lambda-emulator.ts', import.meta.url)),
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: { output: { format: 'es', entryFileNames: 'emulator.mjs' } },
    },
  });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** An emulator and the process numbers that it prints. */
async function start(...task: string[]): Promise<{ emulator: ChildProcess; pids: number[] }> {
  const args = [path.join(folder, 'emulator.mjs'), inject('lambdaChildFile'), folder, ...task];
  const emulator = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface(emulator.stdout), 'line');
  return { emulator, pids: JSON.parse(line) };
}

it('no process outlives an emulator that is killed: neither idle, nor in an endless loop, nor what they started, not even in a session of its own and with no environment', async () => {
  const { emulator, pids } = await start();
  expect(pids).toHaveLength(5);
  expect(pids.every(isAlive)).toBe(true);

  emulator.kill('SIGKILL');
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 60_000 });
});

it('an emulator that has stopped exits while a process that it cannot know keeps the streams of a lambda open', async () => {
  const { emulator, pids } = await start('stop');
  const [orphan = 0] = pids;
  try {
    await vi.waitFor(() => expect(emulator.exitCode).toBe(0), { timeout: 60_000 });
    expect(isAlive(orphan)).toBe(true);
  } finally {
    emulator.kill('SIGKILL');
    process.kill(orphan, 'SIGKILL');
  }
});
