import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { describe, expect, it } from 'vitest';
import { type Page, readPage, root, userPages } from './read-docs.ts';

const pages = userPages();
const linked = [
  ...pages,
  ...['AGENTS.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].filter(exists).map(readPage),
];

function exists(path: string): boolean {
  return existsSync(join(root, path));
}

/** Returns the broken links of a page, each with its line. */
function brokenLinks({ path, prose, headings }: Page): string[] {
  return prose.split('\n').flatMap((text, index) =>
    [...text.matchAll(/\]\(([^)\s]+)\)|<a href="([^"]+)"|(?:src|srcset)="([^"]+)"/g)].flatMap(([, ...found]) => {
      const link = found.find((match) => match !== undefined) ?? '';
      if (/^[a-z]+:/.test(link)) return [];
      const [to = '', anchor] = link.split('#');
      const target = to === '' ? path : normalize(join(dirname(path), to));
      const where = `${path}:${index + 1}: ${link}`;
      if (!exists(target)) return [`${where}: there is no such file`];
      if (path.startsWith('docs/') && target.startsWith('docs/internals/')) return [`${where}: not in the package`];
      if (anchor === undefined || !target.endsWith('.md')) return [];
      const { headings: those, prose: targetProse } = to === '' ? { headings, prose } : readPage(target);
      const isKnown = those.some((heading) => heading.anchor === anchor) || targetProse.includes(`<a id="${anchor}">`);
      return isKnown ? [] : [`${where}: ${target} has no such heading`];
    }),
  );
}

describe('a page of the documentation', () => {
  it.each(linked)('$path links to files and headings that exist', (page) => {
    expect(brokenLinks(page)).toEqual([]);
  });

  it.each(pages)('$path has one title, and headings that are in order and different', ({ path, headings }) => {
    expect(headings.filter(({ level }) => level === 1).map(({ line }) => line)).toHaveLength(1);
    const skipped = headings.filter(({ level }, index) => level > (headings[index - 1]?.level ?? 0) + 1);
    expect(skipped.map(({ line, text }) => `${path}:${line}: ${text}`)).toEqual([]);
    const texts = headings.map(({ text }) => text);
    expect(texts).toEqual([...new Set(texts)]);
  });

  it.each([
    ['docs/index.md', 'docs/'],
    ['llms.txt', ''],
  ])('is linked from %s', (file, folder) => {
    const list = readPage(file).prose;
    const paths = pages.map(({ path }) => path).filter((path) => /^docs\/(?!index\.md)/.test(path));
    expect(paths.filter((path) => !list.includes(`](${path.slice(folder.length)})`))).toEqual([]);
  });

  it('README names the command for the tests that runs in a clean clone', () => {
    const marked = readPage('README.md').blocks.filter(({ info }) => info.startsWith('not-run: '));
    const ci = readFileSync(join(root, '.ci', 'run'), 'utf8').split('\n');
    expect(marked.map(({ text }) => ci.includes(text.trim()))).toEqual([true]);
  });

  it('README has at most 120 lines', () => {
    expect(readPage('README.md').prose.split('\n').length - 1).toBeLessThanOrEqual(120);
  });
});

it('AGENTS.md names commands and files that exist', () => {
  const { prose } = readPage('AGENTS.md');
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const commands = [...prose.matchAll(/`((?:npm|npx|node) [^`]+)`/g)].map(([, command = '']) => command);
  expect(commands.length).toBeGreaterThan(8);
  const missing = commands.filter((command) => {
    const [, script] = /^npm (?:run )?(\S+)/.exec(command) ?? [];
    const paths = command.split(' ').filter((argument) => argument.includes('/'));
    return (script !== undefined && !Object.hasOwn(scripts, script)) || !paths.every(exists);
  });
  expect(missing).toEqual([]);
  const layers = /`system`.*`cli`/
    .exec(prose)?.[0]
    .split(', ')
    .map((layer) => layer.replaceAll('`', ''));
  expect(layers?.filter((layer) => !exists(`server/${layer}`))).toEqual([]);
});

it('troubleshooting names messages that the platform prints', () => {
  const sources = ['server', 'entries', 'fixtures'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.[cm]?[jt]s$/.test(name) && !name.endsWith('.test.ts'))
      .map((name) => readFileSync(join(root, folder, name), 'utf8')),
  );
  const rows = readPage('docs/troubleshooting.md').prose.split('\n');
  const unknown = rows.flatMap((row, index) => {
    const [, message = ''] = /^\| `([^`]+)`/.exec(row) ?? [];
    // Without the status, and only up to the first part that differs from case to case.
    const [fixed = ''] = message.replace(/^\d{3} ?/, '').split(/'|\.\.\./);
    const text = fixed.trim();
    return sources.some((source) => source.includes(text)) ? [] : [`docs/troubleshooting.md:${index + 1}: ${text}`];
  });
  expect(unknown).toEqual([]);
});
