// `npm run check` checks the sources without starting the platform. All parts run, as many at a time as there are processors. The
// output of a part is printed when it has ended.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const CACHE_FOLDER = join('node_modules', '.cache', 'terrarium');
/** Version 7 takes a tenth of the time of version 6, whose command has the same name. */
const COMPILER = join('node_modules', 'typescript-7', 'bin', 'tsc');
/** Results are kept for the next run. One checker: several repeat much work, and other parts have the other processors. */
const types = (project) => [
  ...[COMPILER, '-p', project, '--noEmit', '--checkers', '1'],
  ...['--incremental', '--tsBuildInfoFile', join(CACHE_FOLDER, `${project}.tsbuildinfo`)],
];

/** Each check and the script that runs it; those that take longest come first. */
const parts = [
  ['types', types('tsconfig.json')],
  ['types of the window', types('renderer/tsconfig.json')],
  ['layers', [join('scripts', 'check-layers.mjs')]],
  ['words', [join('scripts', 'check-words.mjs')]],
  ['names', [join('scripts', 'check-names.mjs')]],
  // Tests of the repository itself: its scripts, generated pages and layer rules.
  [
    'tests of the scripts',
    [join('node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', 'scripts', '--reporter', 'dot'],
  ],
  ['dead exports', [join('node_modules', 'knip', 'bin', 'knip.js')]],
  ['format and lint', [join('node_modules', '@biomejs', 'biome', 'bin', 'biome'), 'check', '.']],
  // npm tells its scripts where it is itself.
  ['package', [process.env.npm_execpath, 'pack', '--dry-run', '--ignore-scripts', '--loglevel=error']],
];

async function check([title, script]) {
  const startedAt = Date.now();
  const child = spawn(process.execPath, script, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => output.push(chunk));
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) failed.push(title);
  process.stdout.write(Buffer.concat(output));
  console.log(`check: ${title}: ${code === 0 ? 'ok' : 'FAILED'} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
}

const failed = [];
const work = async () => {
  for (let part = parts.shift(); part; part = parts.shift()) await check(part);
};
await Promise.all(Array.from({ length: availableParallelism() }, work));
if (failed.length > 0) {
  console.error(`check: failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
