// `npm run explore [-- --minutes 5] [-- FILE ...]`: runs the tests with random choices (properties, fuzzing, crashes) again and again, each
// time with a new seed, and stops at the first failure with the command that repeats it. The suite itself has a fixed seed. Without names of
// files, two minutes of `npm run soak` follow.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Imports that mark a test file with random choices. */
const RANDOM_CHOICES = /from '(fast-check|[./]+\/(testing\/)?(test-seed|arbitrary-[a-z]+)\.ts)'/;

const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string', default: '5' } },
  allowPositionals: true,
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error(`explore: --minutes must be a number above 0, not '${values.minutes}'`);
  process.exit(2);
}
const files = positionals.length > 0 ? positionals : ['server', 'renderer', 'e2e'].flatMap(filesWithRandomChoices);
const deadline = Date.now() + minutes * 60_000;
let runs = 0;
while (Date.now() < deadline) {
  const seed = String(randomInt(2 ** 31));
  console.log(`explore: TEST_SEED=${seed}, ${files.length} files`);
  const command = [join('node_modules', 'vitest', 'vitest.mjs'), 'run', '--reporter', 'dot', ...files];
  const env = { ...process.env, TEST_SEED: seed };
  const { status, signal } = spawnSync(process.execPath, command, { cwd: root, env, stdio: 'inherit' });
  if (signal) process.exit(130);
  if (status !== 0) {
    console.error(`explore: failed. To repeat it: TEST_SEED=${seed} npx vitest run FILE, with a file named above`);
    process.exit(1);
  }
  runs += 1;
}
console.log(`explore: ${runs} runs with different seeds, all passed`);
if (positionals.length === 0) {
  const soak = [join('bench', 'run.mjs'), 'soak', '--minutes', '2'];
  const { status } = spawnSync(process.execPath, soak, { cwd: root, stdio: 'inherit' });
  if (status !== 0) console.error('explore: the soak run failed. To repeat it: npm run soak -- --minutes 2');
  process.exitCode = status ?? 130;
}

/** Returns the paths of the test files below a folder that make random choices. */
function filesWithRandomChoices(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, name))
    .filter((name) => /\.test\.tsx?$/.test(name) && RANDOM_CHOICES.test(readFileSync(join(root, name), 'utf8')));
}
