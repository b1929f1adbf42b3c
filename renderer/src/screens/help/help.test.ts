import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { screens } from '../registry.ts';
import { blocksIn, runsIn } from './markdown.ts';
import { DECISIONS, foundIn, pageOf, targetOf } from './pages.ts';

const docs = join(import.meta.dirname, '..', '..', '..', '..', 'docs');
const files = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.md') && !name.startsWith('internals'));
const pages = files.map((name) => pageOf(`docs/${name}`, readFileSync(join(docs, name), 'utf8')));
const decisions = pages.find(({ id }) => id === DECISIONS);

describe('a page of the documentation', () => {
  it.each(pages)('$id is drawn without anything left of its Markdown', ({ title, blocks }) => {
    expect(title).toMatch(/^[A-Z]/);
    const texts = blocks.flatMap((block) => {
      if (block.kind === 'code') return [];
      if (block.kind === 'list') return block.items.map(({ text }) => text);
      return block.kind === 'table' ? block.rows.flat() : [block.text];
    });
    const plain = texts.flatMap(runsIn).filter(({ kind }) => kind === 'text');
    expect(plain.filter(({ text }) => /\*\*|`|^#|^- |\]\(|<[a-z!]/.test(text))).toEqual([]);
  });

  it.each(pages)('$id leads to places that exist', ({ id, blocks }) => {
    const texts = blocks.flatMap((block) =>
      block.kind === 'table'
        ? block.rows.flat()
        : block.kind === 'list'
          ? block.items.map(({ text }) => text)
          : block.text,
    );
    const targets = texts
      .flatMap(runsIn)
      .filter(({ kind }) => kind === 'link')
      .flatMap(({ to = '' }) => targetOf(to, id) ?? []);
    const isThere = ({ id: page, at }: { id: string; at: string | undefined }) =>
      pages.some(
        ({ id: candidateId, sections }) =>
          candidateId === page && (!at || sections.some(({ anchor }) => anchor === at)),
      );
    expect(targets.filter((target) => !isThere(target))).toEqual([]);
  });

  it('about each screen exists', () => {
    const helps = Object.values(screens).flatMap(({ help }) => help ?? []);
    expect(helps.length).toBeGreaterThan(8);
    expect(helps.filter((help) => !pages.some(({ id }) => id === help))).toEqual([]);
  });
});

describe('a search', () => {
  it('finds a decision by its number and by its words', () => {
    const byNumber = decisions && foundIn(decisions, 'd-155');
    expect(byNumber?.map(({ title }) => title)).toContain('D-155');
    expect(decisions && foundIn(decisions, 'rate limit counts all').map(({ title }) => title)).toContain('D-155');
    expect(decisions && foundIn(decisions, 'gateway xylophone')).toEqual([]);
  });
});

describe('Markdown', () => {
  it('becomes headings, paragraphs, lists, tables and code', () => {
    const text =
      '## A head\nOne\nline.\n\nA list:\n- first\n  goes on\n- <a id="d-1"></a>**D-1** second\n\n1. one\n2. two\n\n```sh\n# not a heading\n```\n\n| a | b |\n|---|---|\n| 1 | `2` |';
    expect(blocksIn(text)).toEqual([
      { kind: 'heading', level: 2, text: 'A head', anchor: 'a-head' },
      { kind: 'paragraph', text: 'One line.' },
      { kind: 'paragraph', text: 'A list:' },
      {
        kind: 'list',
        isNumbered: false,
        items: [
          { anchor: undefined, text: 'first goes on' },
          { anchor: 'd-1', text: '**D-1** second' },
        ],
      },
      {
        kind: 'list',
        isNumbered: true,
        items: [
          { anchor: undefined, text: 'one' },
          { anchor: undefined, text: 'two' },
        ],
      },
      { kind: 'code', text: '# not a heading\n' },
      { kind: 'table', head: ['a', 'b'], rows: [['1', '`2`']] },
    ]);
  });

  it('has code, strong words and links in its lines', () => {
    expect(runsIn('**Why.** `a*b` is [here](x.md).')).toEqual([
      { kind: 'strong', text: 'Why.' },
      { kind: 'text', text: ' ' },
      { kind: 'code', text: 'a*b' },
      { kind: 'text', text: ' is ' },
      { kind: 'link', text: 'here', to: 'x.md' },
      { kind: 'text', text: '.' },
    ]);
  });
});
