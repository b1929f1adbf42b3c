import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasAllWords } from '../../parts/all-words.ts';
import { asDecisionId, choiceOf, contractSections } from './decisions.ts';
import { blocksIn, runsIn } from './markdown.ts';

const docs = join(import.meta.dirname, '..', '..', '..', '..', 'docs');
const contract = readFileSync(join(docs, 'contract.md'), 'utf8');
const files = readdirSync(join(docs, 'decisions')).filter((name) => name !== 'README.md');

describe('the decisions that come along', () => {
  it('are all that the contract has, each with its sentence, below its subject', () => {
    const sections = contractSections(contract);
    const found = sections.flatMap(({ decisions }) => decisions);
    expect(found.map(({ id }) => id)).toEqual(
      [...new Set(contract.match(/\*\*D-\d{3}\*\*/g))].map((id) => id.slice(2, 7)),
    );
    expect(found.length).toBeGreaterThan(100);
    expect(found.find(({ id }) => id === 'D-213')).toEqual({
      id: 'D-213',
      text: 'A job is a container that runs once.',
    });
    expect(sections.map(({ title }) => title)).toContain('Gateway');
    expect(found.every(({ text }) => !text.includes('<a '))).toBe(true);
  });

  it.each(files)('has %s with a title and something below it', (name) => {
    const { id, title, blocks } = choiceOf(
      `../docs/decisions/${name}`,
      readFileSync(join(docs, 'decisions', name), 'utf8'),
    );
    expect(`${id}.md`).toBe(name);
    expect(title).toMatch(/^[A-Z]/);
    expect(blocks.length).toBeGreaterThan(0);
    // What is drawn as text has nothing left of how it was written.
    const drawn = blocks.flatMap((block) =>
      block.kind === 'paragraph' ? [block.text] : block.kind === 'list' ? block.items : block.rows.flat(),
    );
    const plain = drawn.flatMap(runsIn).filter(({ kind }) => kind === 'text');
    expect(plain.filter(({ text }) => /\*\*|`|^#|^- |\]\(/.test(text))).toEqual([]);
  });

  it('are found by words and by an id however it is spelt', () => {
    expect(hasAllWords(' GATEWAY  limit', 'How calls are counted', 'limits of the gateway')).toBe(true);
    expect(hasAllWords('gateway moon', 'limits of the gateway')).toBe(false);
    expect(['d-213', 'D-001', 'walking-back'].map(asDecisionId)).toEqual(['D-213', 'D-001', 'walking-back']);
  });
});

describe('a text of ours', () => {
  it('becomes paragraphs, lists and tables', () => {
    expect(
      blocksIn('One\nline.\n\nA list:\n- first\n  goes on\n- second\n\n| a | b |\n|---|---|\n| 1 | `2` |'),
    ).toEqual([
      { kind: 'paragraph', text: 'One line.' },
      { kind: 'paragraph', text: 'A list:' },
      { kind: 'list', items: ['first goes on', 'second'] },
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
