import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { readKeys } from './terminal.ts';

it('reads single keys, again after an end, and Ctrl+C as a signal', async () => {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { setRawMode: (mode: boolean) => modes.push(mode) });
  const keys: string[] = [];
  readKeys(stdin, (key) => keys.push(key))();
  const end = readKeys(stdin, (key) => keys.push(key));
  const interrupted = once(process, 'SIGINT');
  stdin.write('fx\u0003?');
  expect(await interrupted).toEqual(['SIGINT']);
  expect(keys).toEqual(['f', 'x', '?']);
  end();
  expect([modes, stdin.isPaused()]).toEqual([[true, false, true, false], true]);
});
