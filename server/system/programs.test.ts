import { describe, expect, it } from 'vitest';
import { exitCodeOf, optionsFor, runProgram } from './programs.ts';

describe('a program that is started', () => {
  it.each([
    ['Node.js', process.execPath, {}, undefined],
    ["Electron's own program", process.execPath, { electron: '45.0.0' }, '1'],
    ['another program under Electron', '/usr/bin/git', { electron: '45.0.0' }, undefined],
  ])('is Node.js and not a window: %s', (_what, file, versions, expected) => {
    const options: { cwd: string; env?: NodeJS.ProcessEnv } = { cwd: '/' };
    const { windowsHide, cwd, env } = optionsFor(file, options, versions);
    expect({ windowsHide, cwd }).toEqual({ windowsHide: true, cwd: '/' });
    expect(env?.ELECTRON_RUN_AS_NODE).toBe(expected);
  });

  it('keeps its environment under Electron', () => {
    expect(optionsFor(process.execPath, { env: { A: 'b' } }, { electron: '45.0.0' }).env).toEqual({
      A: 'b',
      ELECTRON_RUN_AS_NODE: '1',
    });
  });

  it('rejects with what it printed', async () => {
    const failing = runProgram(process.execPath, ['-e', 'console.error("why"); process.exit(3)']);
    await expect(failing).rejects.toMatchObject({ code: 3, stderr: 'why\n' });
  });
});

it.each([
  [0, null, 0],
  [3, null, 3],
  [null, 'SIGTERM', 143],
  [null, 'SIGINT', 130],
  // What Windows returns after Ctrl+C.
  [0xc000013a, null, 130],
  [null, null, 0],
] as const)('exit code %s and signal %s are %s in a shell', (code, signal, expected) => {
  expect(exitCodeOf(code, signal)).toBe(expected);
});
