/**
 * Does the machine lack what a kind of tests needs? scripts/test.mjs detects it and reports it at the end of the run; tests that are
 * started directly assume that nothing is missing.
 */
export function isMissing(kind: 'faketime' | 'fish' | 'strace' | 'zsh'): boolean {
  return (process.env.TERRARIUM_TESTS_WITHOUT ?? '').split(',').includes(kind);
}
