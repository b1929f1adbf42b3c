// Collects the licenses of the packages in the bundles. Most of them require that their text is included.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const PACKAGE_FOLDER = /^\0?(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/;
const TERMS = /^(licen[cs]e|copying|notice)([-.].*)?$/i;
const HEAD = `Terrarium is MIT licensed (LICENSE). Its bundles have parts of these packages in them, each under its own terms.\n`;
const RULE = `\n${'-'.repeat(100)}\n`;

/** Collects the licenses of the packages in the bundles of one build. */
export class Licenses {
  /** Folders of packages by name and version. */
  #folders = new Map();

  /** A rolldown plugin that notes each package of which something is left in a bundle. */
  get plugin() {
    return {
      name: 'licenses',
      generateBundle: (_options, bundle) => {
        for (const part of Object.values(bundle)) {
          for (const [id, { renderedLength }] of Object.entries(part.modules ?? {})) {
            const [, folder] = (renderedLength > 0 && PACKAGE_FOLDER.exec(id)) || [];
            if (folder) this.#addFolder(folder);
          }
        }
      },
    };
  }

  /** For what comes into dist/ by another way: the name of a package. */
  add(name) {
    this.#addFolder(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)));
  }

  #addFolder(folder) {
    const { name, version } = manifestOf(folder);
    this.#folders.set(`${name} ${version}`, folder);
  }

  /** Writes all of them to one file; throws for a package that says nothing of its terms. */
  write(file) {
    const entries = [...this.#folders].sort(([a], [other]) => a.localeCompare(other, 'en'));
    writeFileSync(file, [HEAD, ...entries.map(([title, folder]) => entryOf(title, folder))].join(RULE));
  }
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function entryOf(title, folder) {
  const { license, licenses, author } = manifestOf(folder);
  const kind = license?.type ?? license ?? licenses?.map(({ type }) => type).join(' or ');
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && TERMS.test(entry.name))
    .map(({ name }) => readFileSync(join(folder, name), 'utf8').trim());
  if (kind === undefined && texts.length === 0) throw new Error(`${folder} does not say under which terms it is`);
  const authorName = author?.name ?? author;
  const terms =
    texts.length > 0
      ? texts.join('\n\n')
      : `Its package has no text of these terms${authorName ? `; by ${authorName}` : ''}.`;
  return `${title} (${kind ?? 'see its text'})\n\n${terms}\n`;
}
