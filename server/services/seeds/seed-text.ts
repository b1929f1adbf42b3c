import { Document, isMap, isScalar, visit } from 'yaml';
import type { Json, JsonObject } from '../../model/json.ts';
import { NOT_EXPORTED } from './seed-node.ts';

const HEAD = `# Resources of a platform by type and name, from the root organization down. Resources refer to each other by name or
# path. To create or update these resources in a world, apply this file. ${NOT_EXPORTED} keeps the stored value; a new
# user gets a random password.
`;

/** Characters other than the line feed that readers take for a line break or for the beginning of a file. */
const LINE_BREAKS = /[\r\u0085\u2028\u2029\ufeff]/g;

/** Maximum length of a list on one line. */
const MAX_LINE_CHARACTERS = 80;

export type TextFormat = 'json' | 'yaml';

export function textOf(document: JsonObject, format: TextFormat): string {
  return format === 'yaml' ? yamlOf(document) : `${JSON.stringify(document, null, 2)}\n`;
}

/** A seed document as YAML for people to read and edit: short lists of words, and objects of one, on one line. */
export function yamlOf(document: JsonObject): string {
  const members = Object.entries(document).map(([key, value]) => yamlOfMember(key, value));
  return `${HEAD}${members.join('')}`;
}

function yamlOfMember(key: string, value: Json): string {
  const yaml = new Document({ [key]: value }, { aliasDuplicateObjects: false });
  visit(yaml, {
    Scalar(_key, node) {
      if (typeof node.value === 'string' && needsEscapes(node.value)) node.type = 'QUOTE_DOUBLE';
    },
    Collection(_key, node) {
      if (node === yaml.contents) return;
      const values = isMap(node) ? node.items.map(({ value }) => value) : node.items;
      const isShort = node.items.length > 0 && (!isMap(node) || node.items.length === 1);
      if (isShort && values.every(isWord) && JSON.stringify(node).length <= MAX_LINE_CHARACTERS) node.flow = true;
    },
  });
  const text = yaml.toString({ lineWidth: 0, flowCollectionPadding: false });
  return text.replace(LINE_BREAKS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function isWord(value: unknown): boolean {
  return isScalar(value) && !String(value.value).includes('\n');
}

/** Can a text be lost when YAML folds lines or trims white space? */
function needsEscapes(text: string): boolean {
  return text.trim() === '' || text.search(LINE_BREAKS) >= 0;
}
