import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Pair, type Scalar, visit } from 'yaml';
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

/** Writes plain scalars so that the reader reads them as the server. Throws PipelineError for those that the server refuses. */
export function scalarEdits(document: Document, lineOf: (at: number) => string): Edit[] {
  const edits: Edit[] = [];
  visit(document, {
    // References consist of names, which the reader knows as they are written.
    Seq: (_, { tag }) => (tag === '!reference' ? visit.SKIP : undefined),
    Scalar(key, { type, tag, range, source }) {
      if (key === 'key' || type !== 'PLAIN' || tag !== undefined || !range || source === undefined) return;
      const text = serverScalar(source);
      if (text === null)
        throw new PipelineError(
          `${lineOf(range[0])} cannot be read: GitLab does not accept the date ${source}. Put it in quotation marks.`,
        );
      if (text !== undefined && text !== source) edits.push({ from: range[0], to: range[1], text });
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
  if (/^[-+]?(?:0b[01][01_,]*|0x[\da-fA-F][\da-fA-F_,]*|0[0-7_,]*|[1-9](?:[_,]?\d)*)$/.test(text)) {
    const size = BigInt(digits.replace(/^[-+]/, '').replace(/^0(?=[0-7])/, '0o'));
    const integer = digits.startsWith('-') ? -size : size;
    // The server has integers of any size.
    return Number.isSafeInteger(Number(integer)) ? String(integer) : `"${integer}"`;
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

const PARALLEL_JOB = /^(.+?)(?:(: \[.*\])| \d+\/\d+)$/;
/** Keywords of a job that the reader refuses. */
const UNKNOWN = /^(?:artifacts:(?:public|reports:(?:api|coverage)_fuzzing)|dast_configuration)$/;
/** Values of `inherit:default` that the reader refuses. */
const UNKNOWN_DEFAULTS: readonly unknown[] = ['hooks', 'id_tokens', 'identity'];

/**
 * Leaves out or replaces what the reader does not know: some keywords; in needs and dependencies the names of single parallel jobs, by that
 * of the whole job; and the need of another pipeline, by none. An anchor is read with the keywords of each of its aliases.
 */
export function keywordEdits(document: Document): Edit[] {
  const edits: Edit[] = [];
  // Not by `Alias.resolve`, which searches the whole document each time.
  const targets = new Map<unknown, unknown>();
  const anchors = new Map<string, unknown>();
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) targets.set(node, anchors.get(node.source));
      else if (node.anchor) anchors.set(node.anchor, node);
    },
  });
  const contentOf = (node: unknown) => (isAlias(node) ? targets.get(node) : node);
  const editNeed = ({ value, range }: Scalar) => {
    const [, name, matrix] = (typeof value === 'string' && PARALLEL_JOB.exec(value)) || [];
    // Jobs of other files can have numbers, too.
    if (range && name !== undefined && !document.has(value) && (matrix || document.has(name)))
      edits.push({ from: range[0], to: range[1], text: JSON.stringify(name) });
  };
  const editMember = ({ key, value }: Pair, keys: readonly string[]) => {
    if (!isScalar(key) || !key.range || !isNode(value) || !value.range) return;
    const keyword = keywordOf(keys);
    const content = contentOf(value);
    const [from, to] = value.range;
    if (UNKNOWN.test(keyword)) edits.push({ from: key.range[0], to, text: '<<: {}' });
    else if (keyword === 'inherit:default' && isSeq(content)) {
      const readKeywords = content.items.flatMap((item) =>
        isScalar(item) && !UNKNOWN_DEFAULTS.includes(item.value) ? [item.value] : [],
      );
      if (readKeywords.length < content.items.length)
        // The list may have the indentation of its key.
        edits.push({
          from: key.range[0],
          to,
          text: `default: ${readKeywords.length > 0 ? JSON.stringify(readKeywords) : 'false'}`,
        });
    } else if (key.value === 'needs' && isMap(content) && content.has('pipeline') && !content.has('job'))
      edits.push({ from, to, text: '[]' });
  };
  const visited = new Map<unknown, Set<string>>();
  const read = (node: unknown, keys: readonly string[]): void => {
    const content = contentOf(node);
    const keyword = keywordOf(keys);
    const keywords = visited.get(content) ?? new Set();
    if (keywords.has(keyword)) return;
    visited.set(content, keywords.add(keyword));
    if (isScalar(content) && NEEDS.test(keyword)) editNeed(content);
    else if (isSeq(content) && content.tag !== '!reference') for (const item of content.items) read(item, keys);
    else if (isMap(content))
      for (const pair of content.items) {
        // The key of a merge is a symbol.
        const isMerge = isScalar(pair.key) && typeof pair.key.value === 'symbol';
        const keysOfMember = isMerge ? keys : [...keys, String(isScalar(pair.key) ? pair.key.value : pair.key)];
        editMember(pair, keysOfMember);
        read(pair.value, keysOfMember);
      }
  };
  read(document.contents, []);
  return edits;
}

/** A keyword of a job; jobs and variables can be named like the keywords. */
const keywordOf = ([outermost, ...keywords]: readonly string[]) =>
  outermost === 'variables' || keywords.includes('variables') ? 'variables' : keywords.join(':');

/** Keywords with the names of other jobs. */
const NEEDS = /(?:^|:)(?:needs|dependencies)(?::|$)/;

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
