// Plugins that reduce the size of the bundle's text, which V8 keeps in memory.
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const IMPORTER = /[\\/]node_modules[\\/]iconv-lite[\\/]encodings[\\/][^\\/]+$/;
const TABLE = /^[.][/]tables[/]([\w-]+[.]json)$/;

/**
 * A rolldown plugin that has iconv-lite load its tables on first use, from `outDir`, where it puts them: those of encodings that hardly any
 * client sends are half of the bundle's letters.
 */
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

/**
 * A rolldown plugin that writes what is not ASCII as escapes: V8 keeps a source for as long as it runs, and one letter beyond Latin-1 in it
 * doubles all of it.
 */
export function asciiPlugin() {
  return {
    name: 'ascii',
    // After maps are made: a line of such letters is a little longer than its map says.
    generateBundle(_, bundle) {
      for (const part of Object.values(bundle)) {
        if (part.type === 'chunk') part.code = part.code.replace(/[^\0-\x7f]/g, escaped);
      }
    },
  };
}

const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
