import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const IN_PACKAGE = /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)([\\/].*)$/;

/**
 * A rolldown plugin that bundles each version of a package once, because npm installs several copies of a version if another version
 * is in the folder that they could share.
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
