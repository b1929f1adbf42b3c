import { type Document, isMap, isPair, isScalar, isSeq, visit } from 'yaml';
import { PipelineError } from './pipeline-error.ts';
import { serverScalar } from './server-scalar.ts';

/* What a definition says to its reader, where that understands it in another way than a server. */

/** A change of a text. */
interface Edit {
  from: number;
  to: number;
  text: string;
}

export function edited(content: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let end = 0;
  // Of two edits, one of which is within the other, the outer one counts.
  for (const { from, to, text } of edits.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (from < end) continue;
    parts.push(content.slice(end, from), text);
    // A list can end with the white space before what follows it.
    end = from + content.slice(from, to).trimEnd().length;
  }
  return parts.join('') + content.slice(end);
}

/** Writes plain scalars so that the reader reads them as the server. Throws PipelineError for those that the server refuses. */
export function scalarEdits(document: Document, lineOf: (at: number) => string): Edit[] {
  const edits: Edit[] = [];
  visit(document, {
    Scalar(key, { type, tag, range, source }) {
      if (key === 'key' || type !== 'PLAIN' || tag !== undefined || !range || source === undefined) return;
      const text = serverScalar(source);
      if (text === null)
        throw new PipelineError(
          `${lineOf(range[0])} cannot be read: GitLab does not accept the date ${source}. Put it in quotation marks.`,
        );
      if (text !== undefined) edits.push({ from: range[0], to: range[1], text });
    },
  });
  return edits;
}

/** The name of one job of a matrix. */
const MATRIX_JOB = /^(.+): \[.*\]$/;
export const isMatrixJob = (name: unknown) => typeof name === 'string' && MATRIX_JOB.test(name);

/** Replaces the names of single jobs of a matrix in needs and dependencies by that of the whole job, the only one that the reader knows. */
export function nameEdits(document: Document): Edit[] {
  const edits: Edit[] = [];
  visit(document, {
    Scalar(key, { value, range }, path) {
      const keywords = path.flatMap((node) => (isPair(node) && isScalar(node.key) ? [node.key.value] : []));
      const isNeed = keywords.some((keyword) => keyword === 'needs' || keyword === 'dependencies');
      const [, name] = (typeof value === 'string' && MATRIX_JOB.exec(value)) || [];
      if (range && key !== 'key' && name !== undefined && isNeed && !document.has(value))
        edits.push({ from: range[0], to: range[1], text: JSON.stringify(name) });
    },
  });
  return edits;
}

/**
 * Replaces the changed files of an include's rule, which the reader ignores, by a file that does not exist.
 *
 * @param isUnchanged true for a rule of whose files none has changed
 */
export function includeEdits(document: Document | undefined, isUnchanged: (rule: unknown) => boolean): Edit[] {
  const includes = isMap(document?.contents) ? document.contents.get('include', true) : undefined;
  const rules = (isSeq(includes) ? includes.items : [includes]).flatMap((include) => {
    const list = isMap(include) ? include.get('rules', true) : undefined;
    return isSeq(list) ? list.items : [];
  });
  return rules.flatMap((rule) => {
    if (!document || !isMap(rule) || !isUnchanged(rule.toJS(document))) return [];
    const [pair] = ['exists', 'changes'].flatMap((name) =>
      rule.items.filter(({ key }) => isScalar(key) && key.value === name),
    );
    const [from] = (isScalar(pair?.key) && pair.key.range) || [];
    const [, to] = Object(pair?.value).range ?? [];
    return from === undefined || to === undefined ? [] : [{ from, to, text: 'exists: [.git/none]' }];
  });
}
