import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const page = readFileSync(join(root, 'docs', 'threat-model.md'), 'utf8');

/** Sections of the page: a heading, prose, and a table of sentences and the test files that show them. */
const sections = page
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [title = '', ...lines] = section.split('\n');
    const [head, rule, ...rows] = lines.filter((line) => line.startsWith('|'));
    return { title, head, rule, rows: rows.map(cellsOf) };
  });

function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

describe('the threat model', () => {
  it('has sections, each a table of sentences and what shows them', () => {
    expect(sections.length).toBeGreaterThan(5);
    for (const { title, head, rule, rows } of sections) {
      expect([head, rule], title).toEqual(['| sentence | shown by |', '|---|---|']);
      expect(rows, title).not.toEqual([]);
    }
  });

  const rows = sections.flatMap((section) => section.rows);
  it.each(rows)('shows by a test that is there: %s', (sentence, tests, ...more) => {
    expect(more).toEqual([]);
    expect(sentence).toMatch(/^[A-Z`].*\.$/);
    const files = (tests ?? '').split(', ');
    expect(files.filter((file) => !/\.(test|spec)\.ts$/.test(file) || !existsSync(join(root, file)))).toEqual([]);
  });

  it('says each sentence once', () => {
    const sentences = rows.map(([sentence]) => sentence);
    expect(sentences).toEqual([...new Set(sentences)]);
  });
});
