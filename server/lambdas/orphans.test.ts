import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { expect, inject, it, vi } from 'vitest';
import { isAlive } from './process-for-tests.ts';

it('no process outlives an emulator that is killed: neither idle, nor in an endless loop, nor what they started, not even in a session of its own', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'terrarium-orphans-'));
  await build({
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL('./emulator-for-tests.ts', import.meta.url)),
      outDir: folder,
      emptyOutDir: false,
      rolldownOptions: { output: { format: 'es', entryFileNames: 'emulator.mjs' } },
    },
  });
  const emulator = spawn(process.execPath, [path.join(folder, 'emulator.mjs'), inject('lambdaChildFile'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(emulator.stdout), 'line');
  const pids: number[] = JSON.parse(line);
  expect(pids).toHaveLength(4);
  expect(pids.every(isAlive)).toBe(true);

  emulator.kill('SIGKILL');
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 20_000 });
  await rm(folder, { recursive: true, force: true });
});
