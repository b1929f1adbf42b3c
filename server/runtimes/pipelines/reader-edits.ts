import { type Document, isMap, isPair, isScalar, visit, type YAMLSeq } from 'yaml';
import { PipelineError } from './pipeline-error.ts';

/* What a definition says to its reader, where that understands it in another way than a server. */

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

/** References consist of names, which the reader knows as they are written. */
const Seq = (_: unknown, { tag }: YAMLSeq) => (tag === '!reference' ? visit.SKIP : undefined);

/** Writes plain scalars so that the reader reads them as the server. Throws PipelineError for those that the server refuses. */
export function scalarEdits(document: Document, lineOf: (at: number) => string): Edit[] {
  const edits: Edit[] = [];
  visit(document, {
    Seq,
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

/** Integers up to this are written without an exponent. */
const MAX_PLAIN = 1e16;

/**
 * Returns the YAML 1.2 text for a plain scalar that the server reads in another way, because it follows YAML 1.1 (Ruby's Psych);
 * undefined if both read the same. Null: the server does not accept it.
 */
function serverScalar(text: string): string | null | undefined {
  if (/^(?:yes|on)$/i.test(text)) return 'true';
  if (/^(?:no|off)$/i.test(text)) return 'false';
  if (/^\d{4}-\d{1,2}-\d{1,2}(?:$|[Tt\s]+\d{1,2}:\d\d:\d\d)/.test(text)) return null;
  const digits = text.replace(/[_,]/g, '');
  if (/^[-+]?0[0-7_,]+$/.test(text)) return String(Number.parseInt(digits, 8));
  if (/^[-+]?(?:0|[1-9](?:[_,]?\d)*)$/.test(text)) {
    // The server has integers of any size.
    if (!Number.isSafeInteger(Number(digits))) return `"${digits.replace('+', '')}"`;
    return digits === text ? undefined : digits;
  }
  if (/^[-+]?\d[\d_]*(?::[0-5]?\d){1,2}$/.test(text)) {
    // Hours and minutes, or hours, minutes and seconds, in seconds.
    const [hours = 0, minutes = 0, seconds = 0] = digits.split(':').map(Number);
    return String(hours * 3_600 + minutes * 60 + seconds);
  }
  if (/^[-+]?(?:\d[\d_,]*\.\d*|\.\d+)(?:e[-+]\d+)?$/i.test(text)) {
    const number = Number(digits);
    return Number.isInteger(number) && Math.abs(number) < MAX_PLAIN ? `"${number}.0"` : undefined;
  }
  // What only YAML 1.2 reads as a number.
  return /^[-+]?(?:0o[0-7_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.[\d_]+)(?:e[-+]?\d+)?)$/i.test(text) ? `"${text}"` : undefined;
}

const MATRIX_JOB = /^(.+): \[.*\]$/;

/**
 * Replaces what the reader does not know in needs and dependencies: the names of single jobs of a matrix by that of the whole job, and the
 * need of another pipeline by none.
 */
export function needEdits(document: Document): Edit[] {
  const edits: Edit[] = [];
  visit(document, {
    Seq,
    Pair(_, { key, value }) {
      const isOfPipeline = isMap(value) && value.has('pipeline') && !value.has('job');
      if (isScalar(key) && key.value === 'needs' && isOfPipeline && value.range)
        edits.push({ from: value.range[0], to: value.range[1], text: '[]' });
    },
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

/** Puts other includes in front of those of a document, which become the value of a hidden key, because they can have anchors. */
export function includeEdits(document: Document | undefined, content: string, includes: readonly unknown[]): Edit[] {
  const { contents } = document ?? {};
  if (!isMap(contents)) return [];
  return contents.items.flatMap(({ key }) => {
    if (!isScalar(key) || key.value !== 'include' || !key.range) return [];
    const [from, to] = key.range;
    const indent = ' '.repeat(from - content.lastIndexOf('\n', from - 1) - 1);
    const separator = contents.flow ? ', ' : `\n${indent}`;
    return [{ from, to, text: `include: ${JSON.stringify(includes)}${separator}.include-with-rules` }];
  });
}
