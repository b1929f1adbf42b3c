// The desktop shell: its main process and the process of its server.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { oneCopyPlugin } from './one-copy-plugin.mjs';

const ICONS = ['icon.png', 'tray.png', 'trayTemplate.png', 'trayTemplate@2x.png'];

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
  const buildPart = (name) =>
    build({
      ...common,
      build: {
        ssr: true,
        outDir,
        emptyOutDir: false,
        copyPublicDir: false,
        target: 'node22',
        sourcemap: true,
        rolldownOptions: {
          input: { [name]: join(source, `${name}.ts`) },
          output: { format: 'es', entryFileNames: '[name].js' },
        },
      },
    });
  for (const name of ['main', 'server-process']) await buildPart(name);
  for (const icon of ICONS) copyFileSync(join(source, 'assets', icon), join(outDir, icon));
}
