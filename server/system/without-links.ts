import { realpathSync } from 'node:fs';
import path from 'node:path';

/** Resolves links of the existing part, as Node.js modules do. On macOS, the folder for temporary files is behind a link. */
export function withoutLinks(file: string): string {
  try {
    return realpathSync.native(file);
  } catch {
    const above = path.dirname(path.resolve(file));
    return above === path.resolve(file) ? above : path.join(withoutLinks(above), path.basename(file));
  }
}
