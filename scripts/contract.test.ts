import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const ledger = readFileSync(join(root, 'docs', 'reference', 'emulator-behavior.md'), 'utf8');
const entries = [...ledger.matchAll(/^- <a id="d-(\d{3})"><\/a>\*\*D-(\d{3})\*\* (.+)$/gm)];
const explained = new Set(entries.map(([, , id]) => id));

/** Every decision cited below a folder, with one of the places that cite it; ranges such as `D-040..D-044` cite their ends. */
function citationsIn(folder: string, matches: (name: string) => boolean = () => true): Map<string, string> {
  const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  const cited = new Map<string, string>();
  for (const file of files.filter((entry) => entry.isFile() && matches(entry.name))) {
    const path = join(file.parentPath, file.name);
    for (const [, id = ''] of readFileSync(path, 'utf8').matchAll(/\bD-(\d{3})\b/g)) cited.set(id, path);
  }
  return cited;
}

it.each(['server', 'fixtures', 'e2e', 'bench'])('explains every decision that %s cites', (folder) => {
  const unexplained = [...citationsIn(folder)].filter(([id]) => !explained.has(id));
  expect(unexplained.map(([id, path]) => `D-${id} in ${path}`)).toEqual([]);
});

it('finds decisions in the code at all', () => {
  expect(citationsIn('server').size).toBeGreaterThan(10);
});

it('explains each decision once, in order, under an anchor of its own id', () => {
  const ids = entries.map(([, , id]) => id);
  expect(ids).toEqual([...explained].sort());
  expect(entries.filter(([, anchor, id]) => anchor !== id)).toEqual([]);
  expect(ledger.match(/^- /gm)).toHaveLength(entries.length);
});

it('says of each decision which test shows it', () => {
  const isTest = (name: string) => /\.(test|spec)\.ts$/.test(name);
  const cited = new Set(['server', 'e2e', 'fixtures'].flatMap((folder) => [...citationsIn(folder, isTest).keys()]));
  const citations = [...ledger.matchAll(/^\| D-(\d{3}) \| (\S+) \|$/gm)];
  expect(citations.filter(([, , file = '']) => !isTest(file) || !existsSync(join(root, file)))).toEqual([]);
  const named = new Set(citations.map(([, id]) => id));
  const untestable = [...ledger.matchAll(/^\| D-\d{3} \| .+ \| .+ \|$/gm)];
  const counts = {
    'in all': explained.size,
    'shown by tests': [...explained].filter((id = '') => cited.has(id) || named.has(id)).length,
    'with a clause that no test can show': untestable.length,
  };
  const listed = [...ledger.matchAll(/^\| ([a-z ]+) \| (\d+) \|$/gm)].map(([, status, count]) => [
    status,
    Number(count),
  ]);
  expect(Object.fromEntries(listed)).toEqual(counts);
  expect([...explained].filter((id = '') => !cited.has(id) && !named.has(id)).map((id) => `D-${id}`)).toEqual([]);
});
