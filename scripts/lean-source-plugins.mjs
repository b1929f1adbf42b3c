// Plugins that reduce the size of the bundle's text, which V8 keeps in memory.
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const IMPORTER = /[\\/]node_modules[\\/]iconv-lite[\\/]encodings[\\/][^\\/]+$/;
const TABLE = /^[.][/]tables[/]([\w-]+[.]json)$/;

/** A rolldown plugin that copies iconv-lite's tables to `outDir` and loads them on first use: they would be half of the bundle. */
export function tablesPlugin({ outDir }) {
  return {
    name: 'tables',
    enforce: 'pre',
    resolveId(source, importer = '') {
      const [, name] = TABLE.exec(source) ?? [];
      if (!name || !IMPORTER.test(importer)) return undefined;
      mkdirSync(outDir, { recursive: true });
      copyFileSync(resolve(dirname(importer), source), join(outDir, name));
      return { id: `./${name}`, external: true };
    },
  };
}

/** A rolldown plugin that escapes what is not ASCII: one letter beyond Latin-1 doubles the memory of the source, which V8 keeps. */
export function asciiPlugin() {
  return {
    name: 'ascii',
    // Source maps already exist, so the columns after such a letter are slightly off.
    generateBundle(_, bundle) {
      for (const part of Object.values(bundle)) {
        if (part.type === 'chunk') part.code = part.code.replace(/[^\0-\x7f]/g, escaped);
      }
    },
  };
}

const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
