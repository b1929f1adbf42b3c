// Packages that only `npm run test:all` uses and that cannot be dependencies: they need a newer Node.js or another TypeScript than ours.
// They are installed below `node_modules/.cache`. Run as a command, this file installs them.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The major version of the newest LTS version of Node.js. */
export const NEWEST_LTS = 26;

const folderOf = (name) => join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', '.cache', name);

/** Path of the newest LTS version of Node.js. */
export const newestNode = join(
  folderOf(`node-${NEWEST_LTS}`),
  'node_modules',
  'node',
  'bin',
  process.platform === 'win32' ? 'node.exe' : 'node',
);

/** The folder of the generators of API clients. */
export const clientGenerators = folderOf('api-clients');

/** The folder of test runners, of what they run in, and of what replaces parts of their process. */
export const testRunners = folderOf('test-runners');

const oldVitest = folderOf('vitest-3');
/** The command of Vitest 3, whose peers conflict with those of Vitest 4. */
export const vitest3 = join(oldVitest, 'node_modules', 'vitest', 'vitest.mjs');

const managers = join(folderOf('package-managers'), 'node_modules');
/** The words that start package managers and runtimes besides npm and Node.js. */
export const MANAGERS = {
  pnpm: [join(managers, '.bin', 'pnpm')],
  yarn: [process.execPath, join(managers, '@yarnpkg', 'cli-dist', 'bin', 'yarn.js')],
  bun: [join(managers, '.bin', 'bun')],
  bunx: [join(managers, '.bin', 'bunx')],
  deno: [join(managers, '.bin', 'deno')],
};

/** The packages in each folder. */
const PACKAGES = {
  [folderOf(`node-${NEWEST_LTS}`)]: { node: String(NEWEST_LTS) },
  [clientGenerators]: {
    '@hey-api/openapi-ts': '0.99.0',
    '@redocly/cli': '2.77.0',
    newman: '6.2.2',
    'openapi-fetch': '0.17.0',
    'openapi-to-postmanv2': '6.3.3',
    'openapi-typescript': '7.13.0',
    orval: '8.38.0',
    typescript: '~5.9.0',
  },
  [testRunners]: {
    '@types/node': '^20',
    c8: '^11.0.0',
    jest: '^30.5.2',
    'jest-environment-jsdom': '^30.5.2',
    jsdom: '^26.1.0',
    mocha: '^12.0.3',
    msw: '^2.15.0',
    nock: '^14.0.0',
    sinon: '^22.1.0',
    'ts-jest': '^29.4.15',
    typescript: '~5.9.0',
    vitest: '^4.1.0',
  },
  [oldVitest]: { vitest: '^3.2.0' },
  [folderOf('package-managers')]: { '@yarnpkg/cli-dist': '^4.18.1', bun: '^1.4.5', deno: '^2.9.6', pnpm: '^12.21.0' },
};

/** Installs packages in a folder unless they are there. The manifest is written last: without it the next run installs again. */
function install(folder, dependencies) {
  const manifest = join(folder, 'installed.json');
  const dependencyList = JSON.stringify(dependencies);
  if (readIfThere(manifest) === dependencyList) return;
  mkdirSync(folder, { recursive: true });
  const packages = Object.entries(dependencies).map(([name, version]) => `"${name}@${version}"`);
  // A shell, because npm is a batch file on Windows.
  const command = `npm install --prefix "${folder}" --no-save --no-audit --no-fund ${packages.join(' ')}`;
  const { status } = spawnSync(command, { shell: true, stdio: 'inherit' });
  if (status === 0) return writeFileSync(manifest, dependencyList);
  console.error(
    `setup: npm did not install ${packages.join(', ')} (its output is above); run \`npm run test:all\` again`,
  );
  process.exitCode = 1;
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [folder, dependencies] of Object.entries(PACKAGES)) install(folder, dependencies);
}
