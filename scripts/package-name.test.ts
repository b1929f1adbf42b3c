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

/** Texts by the name of their file. */
function allTexts(): [file: string, text: string][] {
  const root = packageFile('.');
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  return listed
    .toString()
    .split('\0')
    .filter((file) => file && existsSync(join(root, file)) && file !== 'scripts/package-name.test.ts')
    .map((file) => [file, readFileSync(join(root, file), 'utf8')]);
}

/** Ways to fetch this package from the npm registry, where it is not published yet. Without such a flag, npx runs what is installed. */
const REGISTRY_COMMAND =
  /\b(?:npx\s+(?:-y|--yes)|(?:bunx|(?:npm|pnpm|yarn|bun)\s+(?:exec|x|dlx|i|install|add|view))(?:\s+-[\w-]+)*)\s+["']?terrarium-emulator(?![\w*/-])/;

/** Paragraphs and lines of code that fetch this package from the registry without a note that it is not there yet. */
function fetchesWithoutNote(text: string): string[] {
  return text
    .split(/\n\s*\n/)
    .filter((paragraph) => REGISTRY_COMMAND.test(paragraph) && !/once it is published/i.test(paragraph));
}

it('recognizes a command that fetches the package before it is published', () => {
  const wrong = ['npm install --save-dev terrarium-emulator', 'npx --yes terrarium-emulator start'];
  expect(wrong.flatMap(fetchesWithoutNote)).toEqual(wrong);
  const right = [
    'Once it is published, run `npm i terrarium-emulator`.',
    'npm install ./terrarium-emulator-*.tgz',
    'npx terrarium-emulator dev',
  ];
  expect(right.flatMap(fetchesWithoutNote)).toEqual([]);
});

it('no file fetches the package from the registry without the note "once it is published"', () => {
  const unnoted = allTexts().flatMap(([file, text]) => fetchesWithoutNote(text).map((use) => `${file}: ${use}`));
  expect(unnoted).toEqual([]);
});

it('no file tells a reader to install, run or import the unrelated package', () => {
  const texts = allTexts();
  expect(texts.map(([file]) => file)).toEqual(
    expect.arrayContaining(['README.md', 'package.json', 'renderer/src/screens/home/first-steps.tsx']),
  );
  const found = texts.flatMap(([file, text]) => usesIn(text).map((use) => `${file}: ${use}`));
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
