import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { canBeOtherUser, OTHER_USER_ID } from '../testing/other-user.ts';
import { configOf } from './config-options.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrarium project '));
  mkdirSync(join(folder, 'a', 'b'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

const dataIn = (workingFolder: string, options = {}) =>
  configOf(options, { env: {}, folder: workingFolder }).config.data;

describe('the project of a folder', () => {
  it.each([
    ['with a data folder above', ['.terrarium'], '.'],
    ['with a repository between it and the data folder', ['.terrarium', 'a/.git'], 'a/b'],
    ['with a nearer data folder', ['.terrarium', 'a/.terrarium'], 'a'],
    ['with a data folder of its own', ['.terrarium', 'a/b/.terrarium'], 'a/b'],
  ])('has its world: %s', (_what, folders, expected) => {
    for (const name of folders) mkdirSync(join(folder, name));
    expect(dataIn(join(folder, 'a', 'b'))).toBe(join(folder, expected, '.terrarium'));
    expect(dataIn(join(folder, 'a', 'b'), { instance: 'two' })).toBe(
      join(folder, expected, '.terrarium/instances/two'),
    );
    expect(dataIn(join(folder, 'a', 'b'), { data: 'other' })).toBe(join(folder, 'a/b/other'));
  });

  it('has its settings', () => {
    writeFileSync(join(folder, 'terrarium.json'), '{ "data": "world" }');
    expect(dataIn(join(folder, 'a', 'b'))).toBe(join(folder, 'world'));
  });

  it.skipIf(!canBeOtherUser)('is not a folder above it whose data folder or settings belong to another user', () => {
    for (const name of ['.terrarium', 'terrarium.json']) {
      mkdirSync(join(folder, name));
      chownSync(join(folder, name), OTHER_USER_ID, OTHER_USER_ID);
    }
    expect(dataIn(join(folder, 'a'))).toBe(join(folder, 'a', '.terrarium'));
  });

  it('is not the home folder above it', () => {
    vi.stubEnv('HOME', folder);
    vi.stubEnv('USERPROFILE', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    mkdirSync(join(folder, '.terrarium'));
    expect(dataIn(join(folder, 'a'))).toBe(join(folder, 'a', '.terrarium'));
    expect(dataIn(folder)).toBe(join(folder, '.terrarium'));
  });
});
