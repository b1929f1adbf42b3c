// `npm run check`: everything that can be said of the sources without running them. All parts run, as many at a time as there are
// processors; what one has to say comes in one piece when it has ended.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = (name) => join('node_modules', '.bin', process.platform === 'win32' ? `${name}.cmd` : name);
// By its path, as both TypeScripts call their command `tsc`: version 7 checks in a tenth of the time.
const tsc = (project) => [
  process.execPath,
  join('node_modules', 'typescript-7', 'bin', 'tsc'),
  ...['--noEmit', '-p', project],
  // What it found out is kept, so that the next time it looks only at what a change can have touched.
  ...['--incremental', '--tsBuildInfoFile', join('node_modules', '.cache', 'terrarium', `${project}.tsbuildinfo`)],
];

/** What is checked, and by which command; those that take longest come first. */
const parts = [
  ['types', tsc('tsconfig.json')],
  ['types of the window', tsc('renderer/tsconfig.json')],
  ['floors', [process.execPath, join('scripts', 'check-floors.mjs')]],
  ['dead exports', [bin('knip')]],
  ['format and lint', [bin('biome'), 'check', '.']],
];

async function check([title, [command, ...args]]) {
  const startedAt = Date.now();
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  const output = [];
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => output.push(chunk));
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) failed.push(title);
  process.stdout.write(Buffer.concat(output));
  console.log(`check: ${title}: ${code === 0 ? 'ok' : 'FAILED'} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
}

const failed = [];
const waiting = [...parts];
const work = async () => {
  for (let part = waiting.shift(); part; part = waiting.shift()) await check(part);
};
await Promise.all(Array.from({ length: availableParallelism() }, work));
if (failed.length > 0) {
  console.error(`check: failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
