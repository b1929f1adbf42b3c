import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { syntaxError } from './dev-session.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrarium syntax '));
});
afterAll(() => rmSync(folder, { recursive: true }));

it.each([
  ['a.ts', 'const a: number = 1;\nconst b = (;', 'a.ts:2:12: Unexpected token'],
  ['a.mjs', 'export const a = [(];', 'a.mjs:1:20: Unexpected token'],
  ['a.js', 'export const a = <b>text</b>;', undefined],
  ['a.cts', 'export = <T>(value: T) => value;', undefined],
  ['a.md', '(((', undefined],
])('finds a syntax error in %s: %s', (file, source, expected) => {
  writeFileSync(join(folder, file), source);
  expect(syntaxError(folder, file)).toBe(expected);
});

it('finds no syntax error in a file that is gone', () => {
  expect(syntaxError(folder, 'gone.ts')).toBe(undefined);
});
