/**
 * True if the machine lacks what a kind of tests needs. scripts/test.mjs detects this and reports it at the end of the
 * run; tests that are started directly assume that nothing is missing.
 */
export function isMissing(kind: 'faketime' | 'fish' | 'strace' | 'zsh'): boolean {
  return (process.env.TERRARIUM_TESTS_WITHOUT ?? '').split(',').includes(kind);
}
