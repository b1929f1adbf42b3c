import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrarium-words-'));
  mkdirSync(join(folder, 'scripts'));
  execFileSync('git', ['init', '-q', folder]);
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
const check = (...options: string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'check-words.mjs'), folder, ...options],
    { encoding: 'utf8' },
  );
  return { status, output: stdout + stderr };
};

it('refuses a private word in a name, a string, a comment or a page, with file, line and what to write instead', () => {
  write('a.ts', "// fine\nconst isDoorOpen = 'asked anew';\n");
  write('page.md', 'Nothing.\n\nWhoever asks.\nIt waits until the time-out.\n');
  const { status, output } = check();
  expect(status).toBe(1);
  expect(output).toContain('a.ts:2: "door" (1, allowed 0): write endpoint, entry or listener');
  expect(output).toContain('a.ts:2: "anew" (1, allowed 0): write again');
  expect(output).toContain('page.md:3: "whoever" (1, allowed 0): write the client, the user, any caller');
  expect(output).toContain('page.md:4: "time-out" (1, allowed 0): write timeout');
});

it('accepts the counts that are allowed, never more, and lowers them on request', () => {
  write('a.ts', '// told, told\n');
  write('scripts/words-allowed.json', JSON.stringify({ 'a.ts': { told: 2 } }));
  expect(check()).toMatchObject({ status: 0 });
  write('a.ts', '// told, told, told\n');
  expect(check().output).toContain('"told" (3, allowed 2)');
  write('a.ts', '// told\n');
  expect(check().output).toContain('run node scripts/check-words.mjs --write');
  check('--write');
  expect(JSON.parse(readFileSync(join(folder, 'scripts', 'words-allowed.json'), 'utf8'))).toEqual({
    'a.ts': { told: 1 },
  });
  expect(check()).toMatchObject({ status: 0 });
});
