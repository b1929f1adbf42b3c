// The lint rule that keeps what differs between operating systems in server/system.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { packageFile } from '../server/system/package-file.ts';

const SETTINGS = '{ "linter": { "rules": { "preset": "none" } }, "plugins": ["./system-rule.grit"] }';
const REFUSED = [
  "import { spawn } from 'node:child_process';",
  "import fork from 'child_process';",
  "import crossSpawn from 'cross-spawn';",
  "const programs = await import('node:child_process');",
  "import { readFile, rename } from 'node:fs/promises';",
  "import { renameSync as move } from 'node:fs';",
  "import * as fs from 'node:fs';",
  "import files from 'node:fs/promises';",
  "import os from 'node:os';",
  "import { platform, release } from 'node:os';",
  'const system = process.platform;',
  'const { platform: here } = process;',
  'const { env, platform: there } = globalThis.process;',
  "await rm('a', { force: true, recursive: true });",
  "rmSync('a', { recursive: true });",
];
const ACCEPTED = [
  "import { rm, rmSync } from 'node:fs';",
  "import type { Dirent } from 'node:fs';",
  "import { arch } from 'node:os';",
  "await rm('a', { force: true });",
  'const { platform: tool } = arch;',
  'await files.rename(platform, arch);',
];

it('refuses every way to use what differs, and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'terrarium-rule-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'biome.json'), SETTINGS);
  copyFileSync(packageFile('scripts/system-rule.grit'), join(folder, 'system-rule.grit'));
  writeFileSync(join(folder, 'sample.ts'), [...ACCEPTED, ...REFUSED].join('\n'));
  const args = [packageFile('node_modules/@biomejs/biome/bin/biome'), 'lint', '--max-diagnostics=100', 'sample.ts'];
  const output = await new Promise<string>((resolve) =>
    execFile(process.execPath, args, { cwd: folder }, (_failure, stdout, stderr) => resolve(stdout + stderr)),
  );
  const lines = Array.from(output.matchAll(/^sample\.ts:(\d+):/gm), ([, line]) => Number(line));
  expect(lines).toEqual(REFUSED.map((_text, at) => ACCEPTED.length + at + 1));
});
