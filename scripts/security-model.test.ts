import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Sections of a page: a heading, prose, and a table of sentences and the test files that show them. Generated parts are left out. */
function sectionsOf(name: string) {
  return readFileSync(join(root, 'docs', 'reference', name), 'utf8')
    .replace(/<!-- generated: [\s\S]*?<!-- end of generated -->/g, '')
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = '', ...lines] = section.split('\n');
      const [head, rule, ...rows] = lines.filter((line) => line.startsWith('|'));
      return { title, head, rule, rows: rows.map(cellsOf), items: lines.filter((line) => /^- /.test(line)) };
    });
}

function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

describe.each(['security-model.md', 'supported-features.md'])('the page %s', (name) => {
  const sections = sectionsOf(name);

  it('has sections, each a table of sentences and what shows them', () => {
    expect(sections.length).toBeGreaterThan(4);
    for (const { title, head, rule, rows, items } of sections) {
      expect(items, title).toEqual([]);
      expect([head, rule], title).toEqual(['| sentence | shown by |', '|---|---|']);
      expect(rows, title).not.toEqual([]);
    }
  });

  const rows = sections.flatMap((section) => section.rows);
  it.each(rows)('names an existing test: %s', (sentence, tests, ...more) => {
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

it('the page on durability names tests that exist', () => {
  const durability = readFileSync(join(root, 'docs', 'reference', 'durability.md'), 'utf8');
  const [, ...failures] = durability.split('\n').filter((line) => /^\| (?!---)/.test(line));
  const untested = failures.filter((row) => {
    const files = [...(cellsOf(row)[2] ?? '').matchAll(/`([^`]+\.(?:test|spec)\.ts)`/g)].map(([, file = '']) => file);
    return files.length === 0 || !files.every((file) => existsSync(join(root, file)));
  });
  expect(failures.length).toBeGreaterThan(20);
  expect(untested).toEqual([]);
});

describe('scripts/mutations.json', () => {
  interface Entry {
    claim: string;
    /** Reason why there is no mutation. */
    reason?: string;
    file?: string;
    find?: string;
    replace?: string;
    test?: string;
  }
  const entries: Entry[] = JSON.parse(readFileSync(join(root, 'scripts', 'mutations.json'), 'utf8'));
  const read = (file: string) => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');
  const sentencesOf = (text: string) => text.split(/(?<=\.)\s+(?=[A-Z`])/);
  const rowsOf = (name: string) =>
    read(`docs/reference/${name}`)
      .split('\n')
      .filter((line) => /^\| (?!sentence \||failure \|)/.test(line))
      .map(cellsOf);

  it('makes each sentence false that the security and durability pages contain, or says why not', () => {
    const security = rowsOf('security-model.md').flatMap(([cell = '']) => sentencesOf(cell));
    const durability = rowsOf('durability.md').flatMap(([failure, behavior = '']) =>
      sentencesOf(behavior).map((sentence) => `${failure}: ${sentence.replace(/\.$/, '')}`),
    );
    const claims = new Set(entries.map(({ claim }) => claim));
    expect([...security, ...durability].filter((sentence) => !claims.has(sentence))).toEqual([]);
    const [first] = entries.filter(({ reason, test }) => (reason === undefined) === (test === undefined));
    expect(first, 'has either a test or a reason').toBeUndefined();
  });

  it.each(entries.filter(({ test }) => test))('can be applied: $claim ($file)', ({ file, find, replace, test }) => {
    expect(read(file ?? '').split(find ?? '').length - 1, 'occurrences').toBe(1);
    expect(replace).not.toBe(find);
    // A build would take long, and replace that of all copies.
    expect(read(test ?? ''), 'the test exists and needs no build').toMatch(/^(?!.*buildCommand)./s);
  });
});

it('each mutation changes one place of its file, and names an existing test', () => {
  const mutations: { claim: string; file?: string; find?: string; test?: string }[] = JSON.parse(
    readFileSync(join(root, 'scripts', 'mutations.json'), 'utf8'),
  );
  const wrong = mutations.filter(({ file, find = '', test }) => {
    if (!file || !test) return false;
    const path = join(root, file);
    return !existsSync(join(root, test)) || !existsSync(path) || readFileSync(path, 'utf8').split(find).length !== 2;
  });
  expect(wrong.map(({ claim }) => claim)).toEqual([]);
});
