/**
 * The seed of every random choice in tests: fixed, so that two runs of the same sources do the same. `npm run explore` sets the
 * variable `TEST_SEED` to a new one for each run.
 */
export const testSeed: number = Number.parseInt(process.env.TEST_SEED ?? '1', 10);
