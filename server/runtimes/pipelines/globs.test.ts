import { expect, it } from 'vitest';
import { matching, ruleMatch } from './pattern.ts';

const FILES = ['README.md', '.env', 'src/main.ts', 'src/a/b.ts', 'src/a/deep/c.md', 'docs/x.md', 'a+b.txt'];

it.each([
  ['README.md', ['README.md']],
  ['*.md', ['README.md']],
  // A point in front hides nothing.
  ['*', ['README.md', '.env', 'a+b.txt']],
  ['**/*.md', ['README.md', 'src/a/deep/c.md', 'docs/x.md']],
  ['src/**/*', ['src/main.ts', 'src/a/b.ts', 'src/a/deep/c.md']],
  ['src/**/c.md', ['src/a/deep/c.md']],
  // Two stars are folders only where they stand alone before a slash.
  ['src/**', ['src/main.ts']],
  ['src**/b.ts', []],
  ['**.md', ['README.md']],
  ['src/?/*.ts', ['src/a/b.ts']],
  ['[A-Z]*.md', ['README.md']],
  ['[!A-Z]*', ['.env', 'a+b.txt']],
  ['{src,docs}/*.{ts,md}', ['src/main.ts', 'docs/x.md']],
  ['a+b.txt', ['a+b.txt']],
  ['READMEXmd', []],
  // A folder is no file.
  ['src', []],
  ['src/', []],
  // Paths of a commit begin with none of these.
  ['./README.md', []],
  ['/README.md', []],
])('a rule means by %s %j', (pattern, files) => {
  expect(FILES.filter(ruleMatch(pattern))).toEqual(files);
});

it.each([
  ['src', ['src/main.ts', 'src/a/b.ts', 'src/a/deep/c.md']],
  ['src/', ['src/main.ts', 'src/a/b.ts', 'src/a/deep/c.md']],
  ['./docs/', ['docs/x.md']],
  ['src/**', ['src/main.ts', 'src/a/b.ts', 'src/a/deep/c.md']],
  ['src/*', ['src/main.ts', 'src/a/b.ts', 'src/a/deep/c.md']],
  ['src/*.ts', ['src/main.ts']],
  ['.', FILES],
  ['none', []],
])('artifacts mean by %s %j, with all that is below a folder', (pattern, files) => {
  expect(matching(FILES, pattern)).toEqual(files);
});
