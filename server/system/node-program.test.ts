import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { nodeProgram } from './node-program.ts';

it('is the first node on PATH under another runtime that is new enough, runs, and is not that runtime itself', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'terrarium-node-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const createFile = (name: string, put: (file: string) => void) => {
    mkdirSync(path.join(folder, name));
    put(path.join(folder, name, 'node'));
  };
  const printsVersion = (text: string) => (file: string) => {
    writeFileSync(file, `#!/bin/sh\necho ${text}\n`);
    chmodSync(file, 0o755);
  };
  createFile('old', printsVersion('v18.20.8'));
  createFile('almost', printsVersion('v20.18.3'));
  createFile('other', printsVersion('none'));
  createFile('folder', mkdirSync);
  createFile('text', (file) => writeFileSync(file, 'v22.1.0'));
  createFile('itself', (file) => symlinkSync(process.execPath, file));
  createFile('good', printsVersion('v20.19.0'));
  createFile('later', printsVersion('v24.0.0'));
  const among = (...names: string[]) =>
    nodeProgram(names.map((name) => path.join(folder, name)).join(path.delimiter), true);
  const unusable = ['missing', 'old', 'almost', 'other', 'folder', 'text', 'itself'];
  expect(among(...unusable, 'good', 'later')).toBe(path.join(folder, 'good', 'node'));
  expect(among(...unusable)).toBeUndefined();
  expect(nodeProgram(folder)).toBe(process.execPath);
});
