import { Document, isMap, isScalar, visit } from 'yaml';
import type { JsonObject } from '../model/json.ts';
import { NOT_EXPORTED } from './seed-secrets.ts';

const HEAD = `# Resources of a platform by type and name, from the root organization down. Where one names another there stands the
# other's name or its path. Applied, this makes a world what is written here; ${NOT_EXPORTED} keeps what is stored.
`;

/** Most characters of a list that stands on one line. */
const MAX_LINE_CHARACTERS = 80;

/** A seed document as YAML for people to read and edit: short lists of words, and objects of one, on one line. */
export function yamlOf(document: JsonObject): string {
  const yaml = new Document(document, { aliasDuplicateObjects: false });
  visit(yaml, {
    Collection(_key, node) {
      const values = isMap(node) ? node.items.map(({ value }) => value) : node.items;
      const isShort = node.items.length > 0 && (!isMap(node) || node.items.length === 1);
      if (isShort && values.every(isWord) && JSON.stringify(node).length <= MAX_LINE_CHARACTERS) node.flow = true;
    },
  });
  return HEAD + yaml.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function isWord(value: unknown): boolean {
  return isScalar(value) && !String(value.value).includes('\n');
}
