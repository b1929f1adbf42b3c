// Bundles the lambda child's bootstrap, packages included, into one CommonJS file: user code gets a real `require`, and one
// small file starts fastest.
import { basename, dirname, join } from 'node:path';
import { bundle, root } from './bundle.mjs';

/** Maps each entry to its output file; the first has the name that was requested. */
const ENTRIES = {
  'entry.ts': undefined,
  'typescript-parser.ts': 'lambda-typescript.cjs',
  'declares-callback.ts': 'lambda-declares-callback.cjs',
  'program-proxy.ts': 'lambda-program-proxy.cjs',
};

/**
 * Clears the flags of heap limits, which already apply, before the first `require`: with such flags V8 does not use the cached code of
 * Node's modules, which load several times as fast with it. `restoreHeapFlags` (child/propagate-to-children.ts) sets them again for threads.
 */
const FIRST = `if (require.main === module) {
  const { noDeprecation } = process;
  process.noDeprecation = true;
  try {
    const { setFlagsFromString } = process.binding('v8');
    setFlagsFromString('--max-old-space-size=0');
    setFlagsFromString('--max-semi-space-size=0');
  } catch {}
  process.noDeprecation = noDeprecation;
}`;

/**
 * Writes the bundle, and beside it the parts that only some lambdas need.
 * @param {{ outFile: string, plugins?: import('vite').Plugin[] }} options
 */
export async function buildChild({ outFile, plugins = [] }) {
  if (!outFile.endsWith('.cjs')) throw new Error(`the child's bundle is CommonJS: '${outFile}' must end in .cjs`);
  for (const [entry, name = basename(outFile)] of Object.entries(ENTRIES)) {
    await bundle({
      input: join(root, 'server', 'runtimes', 'lambdas', 'child', entry),
      outDir: dirname(outFile),
      plugins,
      output: { format: 'cjs', entryFileNames: name, codeSplitting: false, banner: FIRST },
    });
  }
}
