import { decodeText } from '../model/base64-text.ts';
import type { JsonObject } from '../model/json.ts';
import { seedFolder } from '../seed/seed-folder.ts';

export { readSeedFileForApply } from '../seed/read-seed.ts';

/**
 * A seed document, as `GET /inspect/export` gives it, as files: `world.yaml`, which names the files with the code of lambdas.
 *
 * @returns texts by path relative to the folder, with `/`
 */
export function seedFilesOf(document: JsonObject): Map<string, string> {
  return seedFolder(document, decodeText);
}
