import { defineConfig } from 'vitest/config';

// Tests run the TypeScript sources; only the lambda child's bootstrap is a built file (scripts/build.mjs makes it).
export default defineConfig({
  test: {
    include: [
      'server/**/*.test.ts',
      'electron/**/*.test.ts',
      'renderer/**/*.test.ts',
      'e2e/**/*.test.ts',
      'scripts/**/*.test.ts',
      'fixtures/**/*.test.ts',
    ],
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
