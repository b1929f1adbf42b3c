import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { WatchedFolder } from './watched-folder.ts';

let folder: string;
let watched: WatchedFolder | undefined;
let reports: string[][];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrarium watched '));
  reports = [];
});
afterEach(() => {
  watched?.stop();
  rmSync(folder, { recursive: true });
});

const write = (name: string, text: string) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};
const watch = () => {
  watched = new WatchedFolder(folder, (files) => reports.push(files));
};

it('reports files that are saved together, or twice in a row, once', async () => {
  write('src/a.ts', 'one');
  write('b.ts', 'one');
  watch();
  write('src/a.ts', 'two');
  write('src/a.ts', 'three');
  write('b.ts', 'two');
  await expect.poll(() => reports).toEqual([['b.ts', join('src', 'a.ts')]]);
  write('b.ts', 'three');
  await expect.poll(() => reports).toEqual([['b.ts', join('src', 'a.ts')], ['b.ts']]);
});

it('reports files in new folders, and files that replace others', async () => {
  watch();
  mkdirSync(join(folder, 'new'));
  await expect
    .poll(() => {
      write('new/a.ts', String(performance.now()));
      return reports.flat();
    })
    .toContain(join('new', 'a.ts'));
  write('b.ts~', 'draft');
  renameSync(join(folder, 'b.ts~'), join(folder, 'b.ts'));
  await expect.poll(() => reports.flat()).toContain('b.ts');
  expect(reports.flat()).not.toContain('b.ts~');
});

it('reports files in a folder that replaces another one of the same name, also those that came with it', async () => {
  write('dist/index.js', 'one');
  watch();
  for (const text of ['second', 'another']) {
    write(`${text}/index.js`, text);
    write(`${text}/parts/part.js`, text);
    reports = [];
    rmSync(join(folder, 'dist'), { recursive: true });
    renameSync(join(folder, text), join(folder, 'dist'));
    await expect
      .poll(() => reports.flat())
      .toEqual(expect.arrayContaining([join('dist', 'index.js'), join('dist', 'parts', 'part.js')]));
  }
  reports = [];
  write('dist/index.js', 'a later one');
  await expect.poll(() => reports.flat()).toContain(join('dist', 'index.js'));
});

it('reports .env, but nothing in node_modules and hidden folders', async () => {
  for (const name of ['node_modules/a/index.js', '.git/HEAD', '.terrarium/world.json']) write(name, 'one');
  watch();
  for (const name of ['node_modules/a/index.js', '.git/HEAD', '.terrarium/world.json', '.hidden']) write(name, 'two');
  write('.env', 'A=1');
  await expect.poll(() => reports).toEqual([['.env']]);
});

it('does not follow a link to a folder', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'terrarium outside '));
  onTestFinished(() => rmSync(outside, { recursive: true }));
  writeFileSync(join(outside, 'a.ts'), 'one');
  watch();
  symlinkSync(outside, join(folder, 'link'), 'junction');
  await expect.poll(() => reports).toEqual([['link']]);
});

it('watches a limited number of folders', () => {
  for (let index = 0; index < 1_001; index++) mkdirSync(join(folder, String(index)));
  watch();
  expect(watched?.isCut).toBe(true);
});
