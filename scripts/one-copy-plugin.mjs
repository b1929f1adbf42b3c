import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const IN_PACKAGE = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)([\\/].*)$/;

/**
 * A rolldown plugin that bundles each version of a package once. npm installs several copies of one version when a different
 * version has the place where they could share; as a bundle that is four times the same table of media types to parse.
 */
export function oneCopyPlugin() {
  const firstCopies = new Map();
  return {
    name: 'one-copy',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
      const [, folder, rest] = (!resolved?.external && IN_PACKAGE.exec(resolved?.id ?? '')) || [];
      if (!folder) return resolved;
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const key = `${name}@${version}`;
      if (!firstCopies.has(key)) firstCopies.set(key, folder);
      return { ...resolved, id: firstCopies.get(key) + rest };
    },
  };
}
