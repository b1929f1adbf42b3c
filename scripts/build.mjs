// Builds dist/: the server bundled for a fast start (dist/server), the desktop shell (dist/electron), the window
// (dist/renderer), and with --types the library's declarations (dist/types).
//
//   node scripts/build.mjs [--clean] [--types]
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'vite';
import { parse } from 'yaml';
import { buildChild } from './build-child.mjs';
import { markBuilt, markUnbuilt, sourceHash } from './build-stamp.mjs';
import { buildTypes } from './build-types.mjs';
import { bundle, root } from './bundle.mjs';
import { buildSsh, enginePartsPlugin } from './engine-parts.mjs';
import { asciiPlugin, tablesPlugin } from './lean-source-plugins.mjs';
import { Licenses } from './licenses.mjs';
import { oneCopyPlugin } from './one-copy-plugin.mjs';

const serverFolder = join(root, 'dist', 'server');
const rendererAssets = join(root, 'dist', 'renderer', 'assets');

const ICONS = ['icon.png', 'tray.png', 'trayTemplate.png', 'trayTemplate@2x.png'];

/** A running server or an open page can still load parts of an earlier build. */
const KEEP_OLD_PARTS_MS = 24 * 60 * 60_000;

/** Files that a page loads unchanged, by their path below dist/. */
const ASSETS = {
  'docs/openapi-explorer.min.js': import.meta.resolve('openapi-explorer/dist/browser/openapi-explorer.min.js'),
};

/** Packages that the bundler does not see: the one above, and those of the window's style sheet. */
const UNBUNDLED = [
  'openapi-explorer',
  'tailwindcss',
  '@fontsource-variable/inter',
  '@fontsource-variable/jetbrains-mono',
];

// Always a production build: tests set the variable to `test`, and the bundle would contain React's development version.
process.env.NODE_ENV = 'production';

const { values: flags } = parseArgs({ options: { clean: { type: 'boolean' }, types: { type: 'boolean' } } });

const hash = sourceHash(root);
markUnbuilt(root);
if (flags.clean) rmSync(join(root, 'dist'), { recursive: true, force: true });
const licenses = new Licenses();
await buildServer();
await buildSsh({ outDir: serverFolder, licenses });
await buildChild({ outFile: join(serverFolder, 'lambda-child.cjs'), plugins: [licenses.plugin] });
await buildShell();
await buildRenderer();
copyAssets();
prepareWorlds();
for (const name of UNBUNDLED) licenses.add(name);
licenses.write(join(root, 'dist', 'THIRD-PARTY-LICENSES.txt'));
rmSync(join(serverFolder, 'compiled'), { recursive: true, force: true });
removeOldParts(serverFolder);
removeOldParts(rendererAssets);
if (flags.types) await buildTypes({ root });
markBuilt(root, hash);

/**
 * One file for the command, one for the library, and one for each part that is imported on first use
 * (docs/internals/decisions/bundled-server.md).
 */
async function buildServer() {
  const { output } = await bundle({
    input: {
      cli: join(root, 'server', 'cli', 'cli.ts'),
      library: join(root, 'server', 'library', 'library.ts'),
    },
    outDir: serverFolder,
    plugins: [
      tablesPlugin({ outDir: serverFolder }),
      asciiPlugin(),
      enginePartsPlugin(),
      oneCopyPlugin(),
      licenses.plugin,
    ],
    sourcemap: true,
    // All files side by side: a path relative to import.meta.url is the same whichever part the code ends up in.
    output: { format: 'cjs', entryFileNames: '[name]-[hash].cjs', chunkFileNames: '[name]-[hash].cjs' },
  });
  for (const { name, fileName, exports } of output.filter(({ isEntry }) => isEntry)) {
    const load = `createRequire(import.meta.url)('../../entries/parts.cjs').load(join(import.meta.dirname, '${fileName}'))`;
    const lines = [
      "import { createRequire } from 'node:module';",
      "import { join } from 'node:path';",
      // The importer waits for the command's end; if that never resolves, Node.js exits with a specific code.
      exports.includes('ended') ? `await ${load}.ended;` : `export const { ${exports.join(', ')} } = ${load};`,
    ];
    writeFileSync(join(serverFolder, `${name}.js`), `${lines.join('\n')}\n`);
  }
}

/** The desktop shell: its main process and the process of its server. */
async function buildShell() {
  const source = join(root, 'electron');
  const outDir = join(root, 'dist', 'electron');
  for (const name of ['main', 'server-process']) {
    await bundle({
      input: { [name]: join(source, `${name}.ts`) },
      outDir,
      plugins: [oneCopyPlugin(), licenses.plugin],
      external: ['electron'],
      target: 'node22',
      sourcemap: true,
      output: { format: 'es', entryFileNames: '[name].js' },
    });
  }
  for (const icon of ICONS) copyFileSync(join(source, 'assets', icon), join(outDir, icon));
}

async function buildRenderer() {
  await build({
    configFile: join(root, 'renderer', 'vite.config.ts'),
    plugins: [licenses.plugin],
    logLevel: 'warn',
  });
}

function copyAssets() {
  for (const [path, source] of Object.entries(ASSETS)) {
    mkdirSync(dirname(join(root, 'dist', path)), { recursive: true });
    copyFileSync(fileURLToPath(source), join(root, 'dist', path));
  }
}

/** Writes the packaged worlds as JSON, by the hash of their text, because parsing YAML slows the first start. */
function prepareWorlds() {
  const worlds = join(root, 'fixtures', 'worlds');
  const texts = readdirSync(worlds).map((name) => readFileSync(join(worlds, name), 'utf8'));
  const prepared = texts.map((text) => [createHash('sha256').update(text).digest('hex'), parse(text)]);
  writeFileSync(join(serverFolder, 'worlds.json'), JSON.stringify(Object.fromEntries(prepared)));
}

function removeOldParts(folder) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (Date.now() - statSync(file).mtimeMs > KEEP_OLD_PARTS_MS) rmSync(file, { recursive: true });
  }
}
