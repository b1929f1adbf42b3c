import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import { pointerTo } from '../../model/patch/pointer.ts';
import { faultOfAliases, faultOfYaml } from '../../model/yaml-faults.ts';
import { SeedError } from './seed-error.ts';

export interface SeedDocument {
  file: string;
  content: unknown;
  /** An error about the part at that path, with its line: that of the nearest part above when there is no such part. */
  errorAt(path: readonly PropertyKey[], reason: string, cause?: unknown): SeedError;
}

/** Reads YAML text. Throws SeedError when it is not well-formed. @param file how messages name it */
export function parseSeedDocument(file: string, text: string): SeedDocument {
  const limit = faultOfYaml(text);
  if (limit) throw new SeedError({ file, line: limit.line }, limit.reason);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, stringKeys: true, prettyErrors: false });
  const lineAt = (offset: number) => lines.linePos(offset).line;

  const [fault] = [...document.errors, ...document.warnings];
  if (fault) throw new SeedError({ file, line: lineAt(fault.pos[0]) }, `not well-formed YAML: ${fault.message}`, fault);
  const excess = faultOfAliases(document.contents);
  if (excess) throw new SeedError({ file, line: lineAt(excess.offset) }, excess.reason);
  visit(document, {
    Pair(_index, { key }) {
      if (!isScalar(key) || key.value !== '__proto__') return;
      // Objects made from it would lose it silently.
      throw new SeedError({ file, line: lineAt(key.range?.[0] ?? 0) }, "'__proto__' cannot be used as a name");
    },
  });

  /** Returns the offset of the deepest part on the path: its key in a map, the element itself in a list. */
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
    content: document.toJS({ maxAliasCount: -1 }),
    errorAt: (path, reason, cause) =>
      new SeedError({ file, line: lineAt(offsetOf(path)), pointer: pointerTo(path) }, reason, cause),
  };
}
