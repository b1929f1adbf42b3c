// A child process of scripts/mutations.mjs: runs tests of a copy of the sources again and again. It keeps what Vitest has read of them, so
// that each run reads the changed file only.
import { createVitest } from 'vitest/node';

const HOOK_LIMIT_MS = 60_000;

const vitest = await createVitest('test', { watch: false, bail: 1, reporters: [{}] });

process.on('disconnect', () => process.exit());
process.on('message', async ({ changed, test, title, limitMs }) => {
  for (const file of changed) vitest.invalidateFile(file);
  // What prepares a test has the time that it has without a mutation.
  for (const { config } of vitest.projects) Object.assign(config, { testTimeout: limitMs, hookTimeout: HOOK_LIMIT_MS });
  if (title) vitest.setGlobalTestNamePattern(title);
  else vitest.resetGlobalTestNamePattern();
  const specifications = await vitest.globTestSpecifications([test]);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const ids = new Set(specifications.map(({ moduleId }) => moduleId));
  const modules = testModules.filter(({ moduleId }) => ids.has(moduleId));
  const failed = unhandledErrors.map((error) => ({ text: String(error?.message ?? error) }));
  for (const module of modules) {
    for (const testCase of module.children.allTests('failed')) {
      failed.unshift({
        title: titleOf(testCase),
        text: `${testCase.fullName}: ${testCase.result().errors?.[0]?.message}`,
      });
    }
    for (const suite of module.children.allSuites())
      failed.push(...suite.errors().map(({ message: text }) => ({ text })));
  }
  const passed = modules.reduce((count, module) => count + [...module.children.allTests('passed')].length, 0);
  const broken = modules.flatMap((module) => module.errors().map(({ message }) => message));
  process.send({ passed, failed, broken });
});

/** A pattern of the test's title and those of its suites, which Vitest joins by spaces. */
function titleOf({ fullName }) {
  const escaped = fullName.split(' > ').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return `^${escaped.join('(?: > | )')}$`;
}

process.send('ready');
