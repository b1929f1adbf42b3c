import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AUTHOR, git } from './git.ts';
import { onChanges, stateOf } from './repository.ts';

async function repository(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'terrarium watch '));
  await git(dir, ['init', '--quiet']);
  await writeFile(join(dir, '.gitignore'), 'ignored\n');
  await writeFile(join(dir, 'a.txt'), '1');
  await git(dir, ['add', '--all']);
  await git(dir, [...AUTHOR, 'commit', '--quiet', '-m', 'Begin']);
  return dir;
}

it('changes of files and commits are seen, those of ignored files are not', async () => {
  const dir = await repository();
  const states = [await stateOf(dir)];
  const after = async (change: Promise<unknown>) => {
    await change;
    states.push(await stateOf(dir));
  };
  await writeFile(join(dir, 'ignored'), '1');
  expect(await stateOf(dir)).toBe(states[0]);
  await after(writeFile(join(dir, 'a.txt'), '2'));
  await after(writeFile(join(dir, 'a.txt'), '3 longer'));
  await after(writeFile(join(dir, 'b.txt'), '1'));
  await after(writeFile(join(dir, 'b.txt'), '2 longer'));
  await after(git(dir, ['add', '--all']));
  await after(git(dir, [...AUTHOR, 'commit', '--quiet', '-m', 'Change']));
  await after(rm(join(dir, 'b.txt')));
  expect(new Set(states).size).toBe(states.length);
  await rm(dir, { recursive: true });
});

it('acts again after a change, also one that came meanwhile, until it is aborted', async () => {
  const dir = await repository();
  const stop = new AbortController();
  let count = 0;
  const watching = onChanges(dir, stop.signal, async () => {
    count += 1;
    if (count < 3) await writeFile(join(dir, 'a.txt'), 'x'.repeat(count + 5));
    else stop.abort();
  });
  await expect(watching).rejects.toMatchObject({ exitCode: 130 });
  expect(count).toBe(3);
  await rm(dir, { recursive: true });
});
