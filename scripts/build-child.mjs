// Bundles the lambda child's bootstrap, packages included, into one CommonJS file: user code gets a real `require`, and one
// small file starts fastest.
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Writes the bundle.
 * @param {{ outFile: string }} options `outFile`: path of the file to write; its name has to end in `.cjs`.
 */
export async function buildChild({ outFile }) {
  if (!outFile.endsWith('.cjs')) throw new Error(`the child's bundle is CommonJS: '${outFile}' must end in .cjs`);
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: join(root, 'server', 'lambdas', 'child', 'entry.ts'),
      outDir: dirname(outFile),
      emptyOutDir: false,
      copyPublicDir: false,
      target: 'node20',
      rolldownOptions: { output: { format: 'cjs', entryFileNames: basename(outFile), codeSplitting: false } },
    },
  });
}
