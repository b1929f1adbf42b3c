import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { failureOf, resultOf, TestLambdaService } from '../../testing/lambda-service.ts';

let service: TestLambdaService;
beforeAll(async () => {
  service = await TestLambdaService.start();
});
afterAll(() => service.stop());

/** Runs the lambda in `lambda/index.ts` of a project. */
async function runProject(files: Record<string, string>) {
  const folder = await mkdtemp(path.join(service.folder, 'project-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  const url = pathToFileURL(path.join(folder, 'lambda')).href;
  return service.run('', { code_type: 'package', package_url: url, handler: 'index.run' });
}

const importing = (from: string) =>
  `import { part } from '${from}'; export const run = async (): Promise<string> => part;`;
const PART = "export const part: string = 'part';";

it.each([
  ['./part.js', 'lambda/part.ts'],
  ['./part.mjs', 'lambda/part.mts'],
  ['../shared/part.js', 'shared/part.ts'],
])('an import of %s finds %s, as under the compiler', async (from, file) => {
  expect(resultOf(await runProject({ 'lambda/index.ts': importing(from), [file]: PART }))).toBe('part');
});

it.each([
  ['./part', 'part'],
  ['./part.js', 'part'],
  ['./lib', 'lib/index'],
])('an import of %s finds the TypeScript beside its old output', async (from, name) => {
  const files = { [`lambda/${name}.ts`]: PART, [`lambda/${name}.js`]: "exports.part = 'old';" };
  expect(resultOf(await runProject({ ...files, 'lambda/index.ts': importing(from) }))).toBe('part');
});

it.each([
  ['@shared/part', '{"compilerOptions": {"paths": {"@shared/*": ["./none/*", "./shared/*"]}}}'],
  ['@shared/part.js', '{"compilerOptions": {"baseUrl": ".", "paths": {"@shared/*": ["shared/*"]}}}'],
  ['~part', '{/* "paths" */ "compilerOptions": {"paths": {"@/*": [], "~part": ["./shared/part.ts"],}, // "no"\n},}'],
  ['shared/part', '{"compilerOptions": {"baseUrl": "."}}'],
  ['@shared/part', '{"extends": "./base/tsconfig.json"}'],
  ['@shared/part', '{"extends": "@bases/strict"}'],
  ['@shared/part', '{"extends": "@bases/none", "compilerOptions": {"paths": {"@shared/*": ["./shared/*"]}}}'],
  ['@lib/part', '{"extends": ["./base/tsconfig.json", "./base/of-project.json"]}'],
  ['shared/part', '{"extends": "./base/of-project"}'],
  ['@shared/part', '{"compilerOptions": {"paths": {"@s*ed/part": ["./other/part"], "@shared/*": ["./shared/*"]}}}'],
  [
    '@shared/part',
    '{"compilerOptions": {"paths": {"@shared/pa*rt": ["./other/part"], "@shared/part": ["./shared/part"]}}}',
  ],
  ['installed', '{"compilerOptions": {"paths": {"installed": ["./shared/part.d.ts", "./shared/part"]}}}'],
])('an import of %s follows tsconfig.json: %s', async (from, tsconfig) => {
  const base = '{"compilerOptions": {"paths": {"@shared/*": ["../shared/*"]}}}';
  const files = {
    'tsconfig.json': tsconfig,
    'base/tsconfig.json': base,
    'base/of-project.json': `{"compilerOptions": {"baseUrl": "$\{configDir}", "paths": {"@lib/*": ["$\{configDir}/shared/*"]}}}`,
    'node_modules/installed/index.js': "exports.part = 'installed';",
    'other/part.ts': "export const part: string = 'other';",
    'shared/part.d.ts': 'export const part: string;',
    'node_modules/@bases/strict/tsconfig.json': '{"extends": "../../../base/tsconfig.json"}',
    'shared/part.ts': PART,
  };
  expect(resultOf(await runProject({ ...files, 'lambda/index.ts': importing(from) }))).toBe('part');
});

it('a package is found although a file of data beside tsconfig.json has its name', async () => {
  const files = {
    'tsconfig.json': '{"compilerOptions": {"baseUrl": "."}}',
    'installed.json': '{"part": "data"}',
    'node_modules/installed/index.js': "exports.part = 'part';",
  };
  expect(resultOf(await runProject({ ...files, 'lambda/index.ts': importing('installed') }))).toBe('part');
});

it.each([
  ['', '["./shared/*"]'],
  [', whatever tsconfig.json has', '"./shared/*"'],
])('a module that is nowhere is reported by the name that is in the code%s', async (_condition, targets) => {
  const files = { 'tsconfig.json': `{"compilerOptions": {"paths": {"@shared/*": ${targets}}}}` };
  const invocation = await runProject({ ...files, 'lambda/index.ts': importing('@shared/part') });
  expect(failureOf(invocation)).toContain("Cannot find module '@shared/part'");
});
