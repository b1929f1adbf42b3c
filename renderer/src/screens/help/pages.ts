import { hasAllWords } from '../../components/all-words.ts';
import { type Block, blocksIn } from './markdown.ts';

export interface HelpPage {
  /** Its path below docs, without the ending: `guides/containers`. */
  id: string;
  title: string;
  blocks: readonly Block[];
  sections: readonly Section[];
}

/** A part of a page that a search finds: what is below a heading, or one decision. */
export interface Section {
  /** Undefined: the beginning of the page. */
  anchor: string | undefined;
  title: string;
  text: string;
}

export const DECISIONS = 'reference/emulator-behavior';

/** @param path ends with the path below `docs` */
export function pageOf(path: string, markdown: string): HelpPage {
  const id = /docs\/(.*)\.md$/.exec(path)?.[1] ?? path;
  const blocks = blocksIn(markdown);
  const [first] = blocks;
  const title = first?.kind === 'heading' ? first.text : id;
  return { id, title, blocks: blocks.slice(1), sections: sectionsIn(title, blocks.slice(1)) };
}

function sectionsIn(title: string, blocks: readonly Block[]): Section[] {
  const sections: Section[] = [{ anchor: undefined, title, text: '' }];
  const add = (text: string) => {
    const last = sections.at(-1);
    if (last) last.text += `${text}\n`;
  };
  for (const block of blocks) {
    if (block.kind === 'heading') sections.push({ anchor: block.anchor, title: block.text, text: '' });
    else if (block.kind === 'table') add([block.head, ...block.rows].map((row) => row.join(' ')).join('\n'));
    else if (block.kind !== 'list') add(block.text);
    else {
      for (const { anchor, text } of block.items) {
        if (anchor === undefined) add(text);
        else sections.push({ anchor, title: anchor.toUpperCase(), text });
      }
    }
  }
  return sections;
}

/** The sections of a page that have all words, in the order of the page. */
export function foundIn({ title, sections }: HelpPage, query: string): Section[] {
  return sections.filter((section) => hasAllWords(query, title, section.title, section.text));
}

/** The place of a link of a page within the documentation; undefined if it leads elsewhere. */
export function targetOf(link: string, from: string): { id: string; at: string | undefined } | undefined {
  const { pathname, hash, host } = new URL(link, `http://docs/${from}`);
  if (host !== 'docs') return undefined;
  const id = pathname.slice(1).replace(/\.md$/, '');
  const isPage = id === from || pathname.endsWith('.md');
  return isPage ? { id, at: hash === '' ? undefined : hash.slice(1) } : undefined;
}
