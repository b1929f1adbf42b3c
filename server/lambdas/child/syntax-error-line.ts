import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const CHECK_TIMEOUT_MS = 5_000;

/** Where a syntax error is: `file` as a name without folders, `line` counted from 1. Undefined when it cannot be told. */
export function lineOfSyntaxError(error: SyntaxError, file: string): { file: string; line: number } | undefined {
  // Node puts `file:line` in front of the stack of an error in CommonJS source.
  const [, atFile, atLine] = /^(.+):(\d+)\n/.exec(error.stack ?? '') ?? [];
  if (atFile && atLine) return { file: basename(atFile), line: Number(atLine) };
  const line = lineByCheck(file);
  return line === undefined ? undefined : { file: basename(file), line };
}

/** For an ES module Node tells the place only when it prints the error itself. This is the way of failure: a second start is no matter. */
function lineByCheck(file: string): number | undefined {
  // Here, not at the top: hardly any lambda needs it.
  const { spawnSync } = require('node:child_process') as typeof import('node:child_process');
  const { stderr } = spawnSync(process.execPath, ['--check', '--input-type=module', '-'], {
    input: readFileSync(file),
    encoding: 'utf8',
    timeout: CHECK_TIMEOUT_MS,
    env: { ELECTRON_RUN_AS_NODE: '1' },
  });
  const [, line] = /^\[stdin\]:(\d+)$/m.exec(stderr) ?? [];
  return line === undefined ? undefined : Number(line);
}
