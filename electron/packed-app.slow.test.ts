// The desktop application with the files that electron-builder.yml packs, in an otherwise empty folder.
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Minimatch } from 'minimatch';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { buildCommand } from '../server/testing/command.ts';
import { ShellHarness } from './testing/shell.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Files that electron-builder 26 always excludes (its fileMatcher.ts), as far as they occur in this repository. */
const NEVER_PACKED = [
  '!**/node_modules/**',
  '!**/*.{iml,hprof,orig,pyc,pyo,rbc,swp,csproj,sln,suo,xproj,cc,d.ts,mk,a,o,obj,forge-meta,pdb}',
  '!**/._*',
  '!**/{.git,.gitignore,.gitattributes,.gitkeep,.npmignore,.DS_Store,package-lock.json}',
];
/** Rule of electron-builder: a pattern includes a file, and a later pattern with `!` excludes it again. */
const isPackedBy = (patterns: readonly string[]) => {
  const parsed = patterns.map((pattern) => new Minimatch(pattern, { dot: true }));
  return (path: string) =>
    parsed.reduce((isIn, pattern) => (isIn === pattern.negate ? pattern.match(path) : isIn), false);
};

let folder: string;
let harness: ShellHarness;
let packed: string[];

beforeAll(async () => {
  await buildCommand();
  folder = await mkdtemp(join(tmpdir(), 'terrarium packed '));
  const schema = z.object({ files: z.array(z.string()), asarUnpack: z.array(z.string()) });
  const { files, asarUnpack } = schema.parse(parse(await readFile(join(root, 'electron-builder.yml'), 'utf8')));
  const isPacked = isPackedBy([...files, ...NEVER_PACKED]);
  const isUnpacked = isPackedBy(asarUnpack);
  packed = (await filesOf(['package.json', 'LICENSE', 'dist', 'entries', 'electron', 'fixtures', 'docs'])).filter(
    isPacked,
  );
  // Electron reads app.asar like a folder; other programs find the unpacked files next to it.
  for (const path of packed) {
    await cp(join(root, path), join(folder, isUnpacked(path) ? 'app.asar.unpacked' : 'app.asar', path));
  }
  harness = await ShellHarness.make();
});

afterAll(async () => {
  await harness.close();
  await rm(folder, { recursive: true });
});

it('starts its server, shows its window and runs a lambda', async () => {
  const seed = ['--data', ':memory:', '--base-port', '0', '--gateway-port', '0', '--seed', 'demo'];
  await harness.start({
    folder: join(folder, 'app.asar', 'dist', 'electron'),
    serverArguments: [...seed, '--containers-engine', 'none'],
  });
  const { baseUrl, gatewayUrl } = await harness.runs();
  for (const path of ['/ui/', '/docs', '/openapi.json']) {
    expect({ path, status: (await fetch(`${baseUrl}${path}`)).status }).toEqual({ path, status: 200 });
  }
  const lead = await fetch(`${gatewayUrl}/website/lead`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ payload: { email: 'ada@example.com' } }),
  });
  expect([lead.status, await lead.text()]).toEqual([200, 'SUCCESS']);
});

it('what other programs than Electron read is outside of the archive: all files that lambdas start with', async () => {
  const unpacked = await readdir(join(folder, 'app.asar.unpacked', 'dist', 'server'));
  for (const name of ['child', 'declares-callback', 'program-proxy', 'typescript']) {
    const code = unpacked.find((file) => file.startsWith(`lambda-${name}-`) && file.endsWith('.cjs'));
    const compiled = name === 'program-proxy' ? [] : [expect.stringMatching(`^${code}.v`)];
    expect(unpacked).toEqual(expect.arrayContaining([`lambda-${name}.cjs`, code, ...compiled]));
  }
});

it('has the license terms of everything in it, and no maps or tests', () => {
  const terms = ['LICENSE', 'dist/THIRD-PARTY-LICENSES.txt'];
  expect(packed.filter((path) => terms.includes(path)).sort()).toEqual(terms);
  expect(packed.filter((path) => /[.]map$|[.]test[.]|^fixtures.data-folders/.test(path))).toEqual([]);
});

it('has the pages of the documentation that agents read outside of the archive, and none about the code', async () => {
  const folders = await readdir(join(folder, 'app.asar.unpacked', 'docs'));
  expect(folders).toContain('guides');
  expect(folders).not.toContain('internals');
});

/** Files in these folders of the repository, as relative paths. */
async function filesOf(sourceFolders: readonly string[]): Promise<string[]> {
  const found = sourceFolders.map(async (sourceFolder) => {
    const names = await readdir(join(root, sourceFolder), { recursive: true, withFileTypes: true }).catch(
      () => undefined,
    );
    if (!names) return [sourceFolder];
    const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return files.map((file) => file.slice(root.length + 1).replaceAll(sep, '/'));
  });
  return (await Promise.all(found)).flat();
}
