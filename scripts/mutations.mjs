// `npm run mutations`: makes each sentence of the security and durability pages false, one at a time, and runs the one test file that
// must notice. Works in copies of the sources, several at a time. Arguments: parts of claims or files, to run only those; or
// `--part 2/5`, the second of five parts of about the same size.
// scripts/mutations.json cites each sentence, with a mutation or the reason why there is none (scripts/security-model.test.ts).
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PREFIX = 'terrarium-mutations-';
/** One more than processors: tests also wait. */
const COPIES = 1 + Math.max(2, availableParallelism());
/** A test that hangs has noticed, too. */
const RUN_LIMIT_MS = 120_000;
/** Time limits for one test: without a mutation, and with one, which often makes it wait. */
const [WHOLE_LIMIT_MS, MUTATED_LIMIT_MS] = [60_000, 10_000];

const { values, positionals: searchTexts } = parseArgs({
  options: { part: { type: 'string' } },
  allowPositionals: true,
});
const [part = 1, parts = 1] = values.part?.split('/').map(Number) ?? [];
const all = JSON.parse(await readFile(join(root, 'scripts', 'mutations.json'), 'utf8'));
const isWanted = (text) => searchTexts.length === 0 || searchTexts.some((part) => text.includes(part));
const mutations = all.filter(({ claim, file, test }) => test && isWanted(`${claim} ${file} ${test}`));

/** Removes copies of runs that were aborted. */
async function removeAbandoned() {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : undefined;
    if (Number.isInteger(pid) && !isAlive(pid)) await rm(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (failure) {
    return failure.code === 'EPERM';
  }
}

/** A copy of the sources, with the packages and the build of this one. */
async function makeCopy() {
  const dir = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 };
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], options);
  for (const name of listed.split('\0').filter(Boolean)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await cp(join(root, name), join(dir, name)).catch(() => undefined); // deleted, and not committed yet
  }
  for (const name of ['node_modules', 'dist']) await symlink(join(root, name), join(dir, name));
  return dir;
}

/** Runs tests of a copy in a child process, which is replaced when it hangs. */
class Runner {
  #dir;
  #child;
  /** The file that was changed for the previous run, and is restored. */
  #restored;

  constructor(dir) {
    this.#dir = dir;
  }

  /** @returns the tests that passed and failed, and why the file could not be run; undefined if that took too long */
  async run(job) {
    this.#child ??= await this.#start();
    const child = this.#child;
    return new Promise((resolve) => {
      const end = (outcome) => {
        clearTimeout(timer);
        child.off('message', end);
        child.off('exit', finishEarly);
        resolve(outcome);
      };
      const finishEarly = () => {
        this.stop();
        end(undefined);
      };
      const timer = setTimeout(finishEarly, RUN_LIMIT_MS);
      child.on('message', end);
      child.on('exit', finishEarly);
      child.send({ ...job, changed: [this.#restored, job.changed].filter(Boolean) });
      this.#restored = job.changed;
    });
  }

  async #start() {
    // A process group of its own: a test that hangs does not end with the process that started it.
    const child = fork(join(this.#dir, 'scripts', 'mutation-runner.mjs'), {
      cwd: this.#dir,
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const failed = once(child, 'exit').then(([code]) =>
      Promise.reject(new Error(`Vitest ended with exit code ${code}`)),
    );
    await Promise.race([once(child, 'message'), failed]);
    failed.catch(() => undefined);
    return child;
  }

  stop() {
    try {
      if (this.#child) process.kill(-this.#child.pid, 'SIGKILL');
    } catch (failure) {
      if (failure.code !== 'ESRCH') throw failure;
    }
    this.#child = undefined;
  }
}

const failures = [];

/** All mutations that one test file must notice. A test that fails without them, too, would notice everything. */
async function checkGroup(dir, runner, test, group) {
  const names = new Set();
  for (const mutation of group) names.add((await check(dir, runner, mutation)) ?? mutation.title ?? '');
  const startedMs = performance.now();
  const run = async (title) => {
    const result = await runner.run({ test, title, limitMs: WHOLE_LIMIT_MS });
    if (result === undefined) return ['it takes too long'];
    const wrong = [...result.failed.map(({ text }) => text), ...result.broken];
    return result.passed === 0 ? [...wrong, `it has no test ${title}`] : wrong;
  };
  // Some tests need what those before them have made.
  const wrong = (await run([...names].join('|'))).length > 0 ? await run() : [];
  console.log(`unchanged    ${seconds(startedMs)} s  ${test}`);
  if (wrong.length > 0) failures.push(`${test} fails without any mutation: ${wrong.join('; ')}`);
}

/** @returns the title of the test that noticed, as a pattern */
async function check(dir, runner, { file, find, replace, test, title, claim }) {
  const path = join(dir, file);
  const original = await readFile(path, 'utf8').catch(() => '');
  const at = original.indexOf(find);
  if (at < 0 || original.indexOf(find, at + 1) >= 0) {
    failures.push(
      `${claim}: ${file} contains "${find}" ${at < 0 ? 'nowhere' : 'more than once'}. Change scripts/mutations.json.`,
    );
    return undefined;
  }
  await writeFile(path, original.slice(0, at) + replace + original.slice(at + find.length));
  // The program that runs lambdas is built once, at the start of the runner.
  const isBuilt = file.startsWith('server/runtimes/lambdas/');
  if (isBuilt) runner.stop();
  const startedMs = performance.now();
  const outcome = await runner.run({ changed: path, test, title, limitMs: MUTATED_LIMIT_MS });
  await writeFile(path, original);
  if (isBuilt) runner.stop();
  const isDetected = outcome === undefined || outcome.failed.length > 0;
  console.log(`${isDetected ? 'noticed    ' : 'NOT NOTICED'}  ${seconds(startedMs)} s  ${claim}`);
  if (isDetected) return outcome?.failed[0]?.title;
  if (outcome.broken.length > 0) failures.push(`${claim}: the mutation breaks ${file}: ${outcome.broken.join('; ')}`);
  else failures.push(`${claim}: ${test} passes with "${replace}" in ${file}. Add a test.`);
  return undefined;
}

function seconds(startedMs) {
  return ((performance.now() - startedMs) / 1000).toFixed(1);
}

await removeAbandoned();
const groups = new Map();
for (const mutation of mutations) groups.set(mutation.test, [...(groups.get(mutation.test) ?? []), mutation]);
const groupsOfPart = [...groups].sort(([, a], [, b]) => b.length - a.length).filter((_, at) => at % parts === part - 1);
const checked = groupsOfPart.flatMap(([, group]) => group).length;
const copies = await Promise.all(Array.from({ length: Math.min(COPIES, groupsOfPart.length) }, makeCopy));
const runners = copies.map((dir) => new Runner(dir));
try {
  await Promise.all(
    runners.map(async (runner, at) => {
      for (let next = groupsOfPart.shift(); next; next = groupsOfPart.shift())
        await checkGroup(copies[at], runner, ...next);
    }),
  );
} finally {
  for (const runner of runners) runner.stop();
  for (const dir of copies) await rm(dir, { recursive: true, force: true });
}
for (const failure of failures) console.error(`mutations: ${failure}`);
console.log(`${checked} mutations, ${failures.length} failures`);
process.exitCode = failures.length > 0 ? 1 : 0;
