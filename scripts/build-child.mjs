// Bundles the lambda child's bootstrap, packages included, into CommonJS files: user code gets a real `require`. Each has its code
// in a second file, and most have in a third what V8 compiled of it, which saves a seventh of a process's start
// (docs/internals/decisions/bundled-server.md).
import { writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { bundle, root } from './bundle.mjs';
import { compileChild, sumOf } from './compile-child.mjs';
import { asciiPlugin } from './lean-source-plugins.mjs';

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
 * Loads the code as if it were in the loader. Compiled code loses its `import()`, so the loader provides one. V8 stores the file name
 * of a script in the compiled code. The name has no folder, because a package would contain that of the machine that built it.
 */
const loaderOf = (name, codeFile) => `${FIRST}
const { readFileSync } = require('node:fs');
const { Script } = require('node:vm');
const codeFile = \`\${__dirname}/${codeFile}\`;
const source = \`(function (exports, require, module, __filename, __dirname, importModule) {\${readFileSync(codeFile, 'utf8')}\n})\`;
const run = new Script(source, { filename: 'terrarium/${name}', cachedData: readCompiledCode() }).runInThisContext();
run.call(exports, exports, require, module, __filename, __dirname, (url) => import(url));

function readCompiledCode() {
  try {
    const stored = readFileSync(compiledFileOf(codeFile));
    const code = stored.subarray(0, -4);
    return stored.readUInt32LE(code.length) === sumOf(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

${compiledFileOf}

${sumOf}
`;

/** The name has all that compiled code depends on: V8 does not notice each difference, and crashes. */
function compiledFileOf(codeFile) {
  const { version, versions, platform, arch } = process;
  return `${codeFile}.${version}-${versions.v8}-${platform}-${arch}`;
}

/**
 * Writes the bundle, and beside it the parts that only some lambdas need.
 * @param {{ outFile: string, plugins?: import('vite').Plugin[] }} options
 */
export async function buildChild({ outFile, plugins = [] }) {
  if (!outFile.endsWith('.cjs')) throw new Error(`the child's bundle is CommonJS: '${outFile}' must end in .cjs`);
  const outDir = dirname(outFile);
  const compiledFiles = {};
  for (const [entry, name = basename(outFile)] of Object.entries(ENTRIES)) {
    const { output } = await bundle({
      input: join(root, 'server', 'runtimes', 'lambdas', 'child', entry),
      outDir,
      plugins: [asciiPlugin(), ...plugins],
      // The hash keeps a process that starts during a build from using compiled code of another version.
      output: { format: 'cjs', entryFileNames: name.replace('.cjs', '-[hash].cjs'), codeSplitting: false },
    });
    const [{ fileName }] = output;
    writeFileSync(join(outDir, name), loaderOf(name, fileName));
    compiledFiles[name] = compiledFileOf(join(outDir, fileName));
  }
  await compileChild(outFile, compiledFiles).catch(({ message }) =>
    console.warn(`The code of lambda processes was not compiled, so they start more slowly: ${message}`),
  );
}
