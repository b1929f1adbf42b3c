// Runs a benchmark: node bench/run.mjs NAME [arguments]. It bundles bench/NAME.ts to dist/bench first, so that what is measured
// is the code as it ships.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

/** Longest that figures may take which only end a log. */
const TOLD_LIMIT_MS = 60_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [name = '', ...args] = process.argv.slice(2);
const source = join(root, 'bench', `${name}.ts`);
if (!/^[a-z-]+$/.test(name) || !existsSync(source)) {
  console.error(`There is no benchmark '${name}'. Usage: node bench/run.mjs NAME, where NAME is a file bench/NAME.ts.`);
  process.exit(2);
}

const outDir = join(root, 'dist', 'bench');
await build({
  root,
  configFile: false,
  logLevel: 'warn',
  ssr: { noExternal: true, external: ['autocannon', 'dockerode', '@playwright/test'], target: 'node' }, // autocannon measures; it is not measured
  build: {
    ssr: true,
    outDir,
    emptyOutDir: false,
    copyPublicDir: false,
    target: 'node20',
    rolldownOptions: { input: { [name]: source }, output: { format: 'es', entryFileNames: '[name].js' } },
  },
});
// What ends the tests only tells; it is no test.
const isTold = args.includes('floors');
const { status } = spawnSync(process.execPath, [join(outDir, `${name}.js`), ...args], {
  stdio: 'inherit',
  ...(isTold && { timeout: TOLD_LIMIT_MS }),
});
process.exitCode = isTold ? 0 : (status ?? 1);
