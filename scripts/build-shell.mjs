// The desktop shell: its main process and the process of its server as modules, and the preload script, which Chromium's
// sandbox takes only as one CommonJS file.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { oneCopyPlugin } from './one-copy-plugin.mjs';

const ICONS = ['icon.png', 'tray.png'];

/** Builds dist/electron. */
export async function buildShell({ root, licenses }) {
  const outDir = join(root, 'dist', 'electron');
  const source = join(root, 'electron');
  const common = {
    root,
    configFile: false,
    plugins: [oneCopyPlugin(), licenses.plugin],
    logLevel: 'warn',
    ssr: { noExternal: true, external: ['electron'], target: 'node' },
  };
  const buildPart = (input, output) =>
    build({
      ...common,
      build: {
        ssr: true,
        outDir,
        emptyOutDir: false,
        copyPublicDir: false,
        target: 'node22',
        sourcemap: true,
        rolldownOptions: { input, output },
      },
    });
  await buildPart({ main: join(source, 'main.ts') }, { format: 'es', entryFileNames: '[name].js' });
  await buildPart(
    { 'server-process': join(source, 'server-process.ts') },
    { format: 'es', entryFileNames: '[name].js' },
  );
  await buildPart({ preload: join(source, 'preload.ts') }, { format: 'cjs', entryFileNames: '[name].cjs' });
  for (const icon of ICONS) copyFileSync(join(source, 'assets', icon), join(outDir, icon));
}
