// Bundles the lambda child's bootstrap, packages included, into one CommonJS file: user code gets a real `require`, and one
// small file starts fastest.
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What becomes of an entry; only the first has the name that was asked for. */
const ENTRIES = { 'entry.ts': undefined, 'typescript-parser.ts': 'lambda-typescript.cjs' };

/**
 * Writes the bundle, and beside it the part that only some lambdas need.
 * @param {{ outFile: string, plugins?: import('vite').Plugin[] }} options `outFile`: path of the file to write; its name has to end in `.cjs`.
 */
export async function buildChild({ outFile, plugins = [] }) {
  if (!outFile.endsWith('.cjs')) throw new Error(`the child's bundle is CommonJS: '${outFile}' must end in .cjs`);
  for (const [entry, name = basename(outFile)] of Object.entries(ENTRIES)) {
    await build({
      root,
      configFile: false,
      plugins,
      logLevel: 'warn',
      ssr: { noExternal: true, target: 'node' },
      build: {
        ssr: join(root, 'server', 'lambdas', 'child', entry),
        outDir: dirname(outFile),
        emptyOutDir: false,
        copyPublicDir: false,
        target: 'node20',
        rolldownOptions: { output: { format: 'cjs', entryFileNames: name, codeSplitting: false } },
      },
    });
  }
}
