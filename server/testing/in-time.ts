import { runInNewContext } from 'node:vm';

/** Far more than what it is used for takes, and far less than a backtracking expression or an abort by lack of memory. */
const LIMIT_MS = 30_000;

/** The result of a synchronous function; throws when it does not end, which would otherwise hold up the whole test run. */
export function inTime<T>(run: () => T): T {
  return runInNewContext('run()', { run }, { timeout: LIMIT_MS });
}
