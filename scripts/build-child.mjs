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
 * Ahead of the first `require`. Node comes with V8's code of its own modules, which V8 takes only while all flags are as they were
 * when Node was built: with limits for the heap on the command line it compiles every one of them again. The limits themselves are in
 * force once the process has begun; without the flags, modules load several times as fast. Threads of a lambda have
 * limits by the flags: `restoreHeapFlags` (server/runtimes/lambdas/child/propagate-to-children.ts) sets them again before the first of them.
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
 * Writes the bundle, and beside it the part that only some lambdas need.
 * @param {{ outFile: string, plugins?: import('vite').Plugin[] }} options `outFile`: path of the file to write; its name has to end in `.cjs`.
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
