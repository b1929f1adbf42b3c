import { stringify } from 'yaml';
import type { JsonObject } from '../model/json.ts';
import { NOT_EXPORTED } from './seed-secrets.ts';

const HEAD = `# Resources of a platform by type and name, from the root organization down. Where one names another there stands the
# other's name or its path. Applied, this makes a world what is written here; ${NOT_EXPORTED} keeps what is stored.
`;

/** A seed document as YAML for people to read and edit. */
export function yamlOf(document: JsonObject): string {
  return HEAD + stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
}
