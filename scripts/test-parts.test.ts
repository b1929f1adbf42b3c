import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const PARTS = new URL('./test-parts.mjs', import.meta.url).href;
const MISSING_FOLDER = join(tmpdir(), 'terrarium-no-such-folder');
const ENDS_WITH = (code: number) => `[process.execPath, '-e', 'process.exit(${code})']`;

/** Runs parts of tests on a machine without programs and without an engine. */
function runParts(parts: string, env: Record<string, string> = {}): Promise<{ exitCode: unknown; lines: string[] }> {
  const script = `import { report, run } from '${PARTS}';\n${parts}\nreport();`;
  const machine = { PATH: MISSING_FOLDER, DOCKER_HOST: `unix://${join(MISSING_FOLDER, 'engine.sock')}`, ...env };
  return new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '-e', script], { env: machine }, (failure, output) =>
      resolve({ exitCode: failure ? failure.code : 0, lines: output.trim().split('\n') }),
    );
  });
}

const ENGINES = `await run('engines', ${ENDS_WITH(1)}, ['containers']);`;
const OTHER_PARTS = `await run('others', ${ENDS_WITH(0)});`;

it('skips tests that the machine cannot run, and says why and what to install', async () => {
  const { exitCode, lines } = await runParts(ENGINES + OTHER_PARTS);
  expect(exitCode).toBe(0);
  expect(lines).toContainEqual(expect.stringMatching(/^test: others: ok/));
  expect(lines).toContain('test: not run here: zsh: no zsh (Debian: apt-get install zsh)');
  expect(lines.at(-1)).toMatch(/^test: passed; not run here: .*zsh \(no zsh\).*containers \(no engine\)$/);
});

it('runs everything in continuous integration, and fails there', async () => {
  const { exitCode, lines } = await runParts(ENGINES + OTHER_PARTS, { CI: 'true' });
  expect([exitCode, lines.at(-1)]).toEqual([1, 'test: FAILED: engines']);
});

it('runs the other parts when one fails', async () => {
  const { exitCode, lines } = await runParts(`await run('first', ${ENDS_WITH(3)});${OTHER_PARTS}`);
  expect(exitCode).toBe(1);
  expect(lines).toContainEqual(expect.stringMatching(/^test: others: ok/));
  expect(lines.at(-1)).toMatch(/^test: FAILED: first; not run here: /);
});
