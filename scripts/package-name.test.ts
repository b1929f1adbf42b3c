// On the npm registry the name `terrarium` belongs to another package: an instruction that names it installs and runs that one.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageFile } from '../server/system/package-file.ts';

const NOT_OURS = String.raw`terrarium(?![\w-])`;
const FLAGS = String.raw`(?:\s+-[\w-]+(?:=\S+)?)*\s+`;
/** Ways to fetch or load a package by its name. */
const USES = [
  // npx and its relatives fetch what is not installed.
  `\\b(?:npx|bunx|(?:npm|pnpm|yarn|bun)\\s+(?:exec|x|dlx|create|init|i|install|add|ci|view|link))${FLAGS}${NOT_OURS}`,
  `\\bfrom\\s+["']${NOT_OURS}`,
  `\\b(?:import|require(?:\\.resolve)?)\\s*\\(?\\s*["']${NOT_OURS}["']`,
  `node_modules[/\\\\]${NOT_OURS}`,
  `npmjs\\.com/package/${NOT_OURS}`,
].map((pattern) => new RegExp(pattern, 'g'));

const usesIn = (text: string) => USES.flatMap((pattern) => text.match(pattern) ?? []);

it('recognizes each way to name the unrelated package, and not its own name', () => {
  const wrong = [
    'npx terrarium',
    'npx --yes terrarium start',
    'npm install --save-dev terrarium',
    'npm i -D terrarium@1',
    'pnpm dlx terrarium',
    "from 'terrarium'",
    "require('terrarium')",
    "import('terrarium')",
    'node_modules/terrarium/entries',
  ];
  expect(wrong.filter((text) => usesIn(text).length === 0)).toEqual([]);
  const right = wrong.map((text) => text.replace('terrarium', 'terrarium-emulator'));
  expect(right.flatMap(usesIn)).toEqual([]);
  expect(['terrarium start', 'npm run terrarium', "await run('terrarium')"].flatMap(usesIn)).toEqual([]);
});

it('no file tells a reader to install, run or import the unrelated package', () => {
  const root = packageFile('.');
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  const files = listed
    .toString()
    .split('\0')
    .filter((file) => file && existsSync(join(root, file)) && file !== 'scripts/package-name.test.ts');
  expect(files).toEqual(
    expect.arrayContaining(['README.md', 'package.json', 'renderer/src/screens/home/first-steps.tsx']),
  );
  const found = files.flatMap((file) => usesIn(readFileSync(join(root, file), 'utf8')).map((use) => `${file}: ${use}`));
  expect(found).toEqual([]);
});

it('the package has a command of its own name, which npx also runs in a clone without packages', () => {
  const { name, bin } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  const lock = JSON.parse(readFileSync(packageFile('package-lock.json'), 'utf8'));
  expect({ name, commands: Object.keys(bin) }).toEqual({
    name: 'terrarium-emulator',
    commands: ['terrarium', 'terrarium-emulator'],
  });
  expect([lock.name, lock.packages[''].name]).toEqual([name, name]);
});
