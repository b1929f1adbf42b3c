import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Bundles programs for Node.js together with their packages, into a folder whose other files stay.
 *
 * @param options.output `output` of rolldown, with the format and the names of the files
 */
export function bundle({ input, outDir, output, plugins = [], external = [], target = 'node20', sourcemap = false }) {
  return build({
    root,
    configFile: false,
    plugins,
    logLevel: 'warn',
    ssr: { noExternal: true, external: external.filter((name) => typeof name === 'string'), target: 'node' },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      copyPublicDir: false,
      target,
      sourcemap,
      rolldownOptions: { input, external, output },
    },
  });
}
