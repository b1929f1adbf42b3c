import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A fenced code block of a page. */
export interface CodeBlock {
  /** Line of its first fence, from 1. */
  line: number;
  language: string;
  /** Words after the language: `file=world.yaml`, `exit=1`, `not-run: why`. */
  info: string;
  text: string;
}

/** A page of the documentation, taken apart. */
export interface Page {
  /** Relative to the repository, with slashes. */
  path: string;
  /** The text without its code blocks; lines keep their numbers. */
  prose: string;
  headings: { line: number; level: number; text: string; anchor: string }[];
  blocks: CodeBlock[];
}

/** The pages that users read: README, the skill and everything below docs that is in the package. */
export function userPages(): Page[] {
  const below = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .filter((name) => name.endsWith('.md') && !name.startsWith('docs/internals/'));
  return [...below.sort(), 'README.md', 'skills/terrarium/SKILL.md'].map(readPage);
}

export function readPage(path: string): Page {
  const lines = readFileSync(join(root, path), 'utf8').split('\n');
  const blocks: CodeBlock[] = [];
  const prose: string[] = [];
  let open: CodeBlock | undefined;
  for (const [index, line] of lines.entries()) {
    const [, language = '', info = ''] = /^```(\S*) ?(.*)$/.exec(line) ?? [];
    if (open) {
      if (line === '```') open = undefined;
      else open.text += `${line}\n`;
      prose.push('');
    } else if (line.startsWith('```')) {
      open = { line: index + 1, language, info, text: '' };
      blocks.push(open);
      prose.push('');
    } else prose.push(line);
  }
  if (open) throw new Error(`${path}:${open.line}: the code block has no end`);
  return { path, prose: prose.join('\n'), headings: headingsIn(prose), blocks };
}

function headingsIn(lines: readonly string[]): Page['headings'] {
  const occurrences = new Map<string, number>();
  return lines.flatMap((line, index) => {
    const [, marks = '', text = ''] = /^(#{1,6}) (.+)$/.exec(line) ?? [];
    if (!text) return [];
    const plain = anchorOf(text);
    const times = occurrences.get(plain) ?? 0;
    occurrences.set(plain, times + 1);
    return [{ line: index + 1, level: marks.length, text, anchor: times === 0 ? plain : `${plain}-${times}` }];
  });
}

/** The anchor that GitHub and GitLab give a heading. */
function anchorOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}
