/** A part of a text, for the subset of Markdown that our documents use. */
export type Block =
  | { kind: 'heading'; level: number; text: string; anchor: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'list'; isNumbered: boolean; items: readonly Item[] }
  | { kind: 'table'; head: readonly string[]; rows: readonly (readonly string[])[] };

/** An item of a list; it can be the target of a link, as decisions are. */
export interface Item {
  anchor: string | undefined;
  text: string;
}

/** A run of text within a line. */
export interface Run {
  kind: 'text' | 'code' | 'strong' | 'link';
  text: string;
  to?: string;
}

const FENCE = /^```.*\n([\s\S]*?)^```$/m;
const MARKER = /^(?:- |\d+\. )/;

/** Splits a text into headings, paragraphs, lists, tables and code; the lines of a paragraph or an item are joined. */
export function blocksIn(markdown: string): Block[] {
  return markdown
    .split(FENCE)
    .flatMap((part, index) => (index % 2 === 1 ? [{ kind: 'code', text: part }] : proseIn(part)));
}

function proseIn(text: string): Block[] {
  const apart = text.replace(/<!--.*?-->|^!\[.*$/gm, '').replace(/^#+ .+$/gm, '\n$&\n');
  return apart.split(/\n{2,}/).flatMap((group) => {
    const lines = group.split('\n').filter((line) => line.trim() !== '');
    const [first = ''] = lines;
    const [, marks, heading] = /^(#+) +(.+)$/.exec(first) ?? [];
    if (marks && heading) return [{ kind: 'heading', level: marks.length, text: heading, anchor: anchorOf(heading) }];
    if (first.startsWith('|')) return [tableIn(lines)];
    return textIn(lines);
  });
}

/** The anchor that GitHub gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** A paragraph, a list, or a paragraph with the list right below it. */
function textIn(lines: readonly string[]): Block[] {
  const start = lines.findIndex((line) => MARKER.test(line));
  const before = start < 0 ? lines : lines.slice(0, start);
  const items: string[] = [];
  for (const line of start < 0 ? [] : lines.slice(start)) {
    if (MARKER.test(line)) items.push(line.replace(MARKER, ''));
    else items.push(`${items.pop() ?? ''} ${line.trim()}`);
  }
  const paragraph = before.map((line) => line.trim()).join(' ');
  const isNumbered = /^\d/.test(lines[start] ?? '');
  return [
    ...(paragraph === '' ? [] : [{ kind: 'paragraph' as const, text: paragraph }]),
    ...(items.length > 0 ? [{ kind: 'list' as const, isNumbered, items: items.map(itemOf) }] : []),
  ];
}

function itemOf(text: string): Item {
  const [, anchor, rest = ''] = /^(?:<a id="([^"]+)"><\/a>)?(.*)$/s.exec(text) ?? [];
  return { anchor, text: rest };
}

function tableIn(lines: readonly string[]): Block {
  const [head = [], , ...rows] = lines.map((line) =>
    line
      .replace(/^\||\|$/g, '')
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('\\|', '|')),
  );
  return { kind: 'table', head, rows };
}

const RUN = /`([^`]+)`|\*\*(.+?)\*\*|\[([^\]]+)\]\(([^)\s]+)\)|<(https?:[^>]+)>/g;

export function runsIn(line: string): Run[] {
  const runs: Run[] = [];
  let end = 0;
  for (const match of line.matchAll(RUN)) {
    const [matchText, code, strong, link, to, address] = match;
    if (match.index > end) runs.push({ kind: 'text', text: line.slice(end, match.index) });
    if (code !== undefined) runs.push({ kind: 'code', text: code });
    else if (strong !== undefined) runs.push({ kind: 'strong', text: strong });
    else runs.push({ kind: 'link', text: link ?? address ?? matchText, to: to ?? address ?? '' });
    end = match.index + matchText.length;
  }
  if (end < line.length) runs.push({ kind: 'text', text: line.slice(end) });
  return runs;
}
