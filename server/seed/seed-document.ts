import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { Json } from '../model/json.ts';
import { pointerTo } from '../model/pointer.ts';
import { SeedError } from './seed-error.ts';

const MAX_FILE_BYTES = 32 * 1024 * 1024;
/** Aliases that may be expanded while reading: plenty for people, too few for a bomb. */
const MAX_ALIASES = 1000;

/** The content of a seed, and where in it each part stands. */
export interface SeedDocument {
  file: string;
  content: unknown;
  /** An error about the part at that path, with its line: that of the nearest part above when there is no such part. */
  errorAt(path: readonly PropertyKey[], reason: string, cause?: unknown): SeedError;
}

/** Reads a YAML or JSON file (JSON is YAML). Throws SeedError for a file that cannot be read or is not well-formed. */
export async function readSeedDocument(file: string): Promise<SeedDocument> {
  const text = await readUtf8(file).catch((cause: Error) => {
    throw new SeedError({ file }, `the seed file cannot be read: ${cause.message}`, cause);
  });
  return parseSeedDocument(file, text);
}

/**
 * The same for a file that was read when Terrarium was built, without reading it as YAML once more.
 *
 * @param preparedFile what that has given: JSON, contents by the hash of the file's text; it need not be there, nor have this one
 */
export async function readPreparedSeedDocument(file: string, preparedFile: string): Promise<SeedDocument> {
  const prepared = await readFile(preparedFile, 'utf8').catch(() => '{}');
  const hash = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  // As: it comes with the package, as the code does.
  const content = (JSON.parse(prepared) as Record<string, Json>)[hash];
  return content === undefined ? readSeedDocument(file) : sentSeedDocument(file, content);
}

/** A text file of at most 32 MiB; throws Error with the reason otherwise. */
export async function readUtf8(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > MAX_FILE_BYTES) throw new Error(`it has ${size} bytes, more than ${MAX_FILE_BYTES}`);
  const bytes = await readFile(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Error('it is not UTF-8 text', { cause });
  }
}

/** A document that was sent as JSON, and parsed: its parts have no lines. */
export function sentSeedDocument(file: string, content: unknown): SeedDocument {
  return {
    file,
    content,
    errorAt: (path, reason, cause) => new SeedError({ file, pointer: pointerTo(path) }, reason, cause),
  };
}

/**
 * Reads YAML text.
 *
 * @param file how messages name it
 * @throws SeedError when it is not well-formed
 */
export function parseSeedDocument(file: string, text: string): SeedDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, stringKeys: true, prettyErrors: false });
  const lineAt = (offset: number) => lines.linePos(offset).line;

  const [fault] = [...document.errors, ...document.warnings];
  if (fault) throw new SeedError({ file, line: lineAt(fault.pos[0]) }, `not well-formed YAML: ${fault.message}`, fault);
  visit(document, {
    Pair(_index, { key }) {
      if (!isScalar(key) || key.value !== '__proto__') return;
      // Objects made from it would lose it silently.
      throw new SeedError({ file, line: lineAt(key.range?.[0] ?? 0) }, "'__proto__' cannot be used as a name");
    },
  });

  /** Where the deepest part on the path begins: its key in a map, the element itself in a list. */
  function offsetOf(path: readonly PropertyKey[]): number {
    let at: unknown = document.contents;
    let offset = document.contents?.range[0] ?? 0;
    for (const part of path) {
      const within: unknown = isAlias(at) ? at.resolve(document) : at;
      const pair = isMap(within)
        ? within.items.find(({ key }) => isScalar(key) && key.value === String(part))
        : undefined;
      const element: unknown = isSeq(within) ? within.items[Number(part)] : pair?.key;
      if (!isNode(element)) break;
      offset = element.range?.[0] ?? offset;
      at = pair ? pair.value : element;
    }
    return offset;
  }

  return {
    file,
    content: contentOf(),
    errorAt: (path, reason, cause) =>
      new SeedError({ file, line: lineAt(offsetOf(path)), pointer: pointerTo(path) }, reason, cause),
  };

  function contentOf(): unknown {
    try {
      return document.toJS({ maxAliasCount: MAX_ALIASES });
    } catch (cause) {
      throw new SeedError(
        { file },
        `its aliases cannot be expanded: ${cause instanceof Error ? cause.message : cause}`,
        cause,
      );
    }
  }
}
