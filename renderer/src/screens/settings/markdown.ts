/** A piece of a text, as far as our own documents use Markdown. */
export type Block =
  | { kind: 'paragraph'; text: string }
  | { kind: 'list'; items: readonly string[] }
  | { kind: 'table'; head: readonly string[]; rows: readonly (readonly string[])[] };

/** A run of text within a line. */
export interface Run {
  kind: 'text' | 'code' | 'strong' | 'link';
  text: string;
  /** Of a link. */
  to?: string;
}

/** Cuts a text into paragraphs, lists and tables; lines that belong together are joined. */
export function blocksIn(markdown: string): Block[] {
  const blocks: Block[] = [];
  for (const group of markdown.split(/\n{2,}/)) {
    const lines = group.split('\n').filter((line) => line.trim() !== '');
    if (lines.length === 0) continue;
    if (lines[0]?.startsWith('|')) blocks.push(tableIn(lines));
    else blocks.push(...textIn(lines));
  }
  return blocks;
}

/** A paragraph, a list, or a paragraph with the list right below it. */
function textIn(lines: readonly string[]): Block[] {
  const start = lines.findIndex((line) => line.startsWith('- '));
  const before = start < 0 ? lines : lines.slice(0, start);
  const items: string[] = [];
  for (const line of start < 0 ? [] : lines.slice(start)) {
    if (line.startsWith('- ')) items.push(line.slice(2));
    else items.push(`${items.pop() ?? ''} ${line.trim()}`);
  }
  return [
    ...(before.length > 0 ? [{ kind: 'paragraph' as const, text: before.map((line) => line.trim()).join(' ') }] : []),
    ...(items.length > 0 ? [{ kind: 'list' as const, items }] : []),
  ];
}

function tableIn(lines: readonly string[]): Block {
  const [head = [], , ...rows] = lines.map((line) =>
    line
      .replace(/^\||\|$/g, '')
      .split('|')
      .map((cell) => cell.trim()),
  );
  return { kind: 'table', head, rows };
}

const RUN = /`([^`]+)`|\*\*(.+?)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

/** Cuts a line into text, code, strong words and links. */
export function runsIn(line: string): Run[] {
  const runs: Run[] = [];
  let end = 0;
  for (const match of line.matchAll(RUN)) {
    const [whole, code, strong, link, to = ''] = match;
    if (match.index > end) runs.push({ kind: 'text', text: line.slice(end, match.index) });
    if (code !== undefined) runs.push({ kind: 'code', text: code });
    else if (strong !== undefined) runs.push({ kind: 'strong', text: strong });
    else runs.push({ kind: 'link', text: link ?? whole, to });
    end = match.index + whole.length;
  }
  if (end < line.length) runs.push({ kind: 'text', text: line.slice(end) });
  return runs;
}
