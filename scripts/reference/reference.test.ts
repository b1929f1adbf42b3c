import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { root } from '../read-docs.ts';
import { FILES, PAGES, REGION_NAMES, regionsIn, renewed } from './pages.ts';
import { settingsSchema, worldSchema } from './schemas.ts';

// The generated parts of the documentation. `npm run docs` sets the variable, and so writes them instead of comparing.
const isWriting = process.env.TERRARIUM_WRITE_DOCS === '1';

function expectCurrent(path: string, expected: string): void {
  const file = join(root, path);
  const current = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (isWriting && current !== expected) writeFileSync(file, expected);
  else
    expect(current === expected, `${path} is not up to date. Run \`npm run docs\` and commit the result.`).toBe(true);
}

describe('the generated reference', () => {
  it.each(PAGES)('%s is what the code says', async (path) => {
    expectCurrent(path, await renewed(readFileSync(join(root, path), 'utf8')));
  });

  it.each(Object.entries(FILES))('%s is what the code says', (path, make) => expectCurrent(path, make()));

  it('uses each generator in one place', () => {
    const used = PAGES.flatMap((path) => regionsIn(readFileSync(join(root, path), 'utf8')));
    expect(used.sort()).toEqual([...REGION_NAMES].sort());
  });
});

describe('the JSON Schemas', () => {
  const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));
  const isWorld = ajv.compile(worldSchema());
  const isSettings = ajv.compile(settingsSchema());
  const errorsOf = (validate: typeof isWorld, value: unknown) => (validate(value) ? [] : validate.errors);

  it.each(['demo', 'empty'])('accept the world file %s', (name) => {
    const text = readFileSync(join(root, 'fixtures', 'worlds', `${name}.yaml`), 'utf8');
    expect(errorsOf(isWorld, parse(text))).toEqual([]);
  });

  it('accept the world file of the documentation', () => {
    const page = readFileSync(join(root, 'docs', 'reference', 'world-file.md'), 'utf8');
    const [, text = ''] = /```yaml file=shop.yaml\n([\s\S]*?)```/.exec(page) ?? [];
    expect(errorsOf(isWorld, parse(text))).toEqual([]);
  });

  it.each([
    ['no format', {}],
    ['an unknown member', { format: 1, organizations: {} }],
    ['an unknown collection of a type', { format: 1, orgs: { a: { containers: {} } } }],
    ['an unknown property', { format: 1, orgs: { a: { lambdas: { b: { properties: { colour: 'red' } } } } } }],
    [
      'a property of the wrong type',
      { format: 1, orgs: { a: { lambdas: { b: { properties: { timeout: 'long' } } } } } },
    ],
  ])('reject a world file with %s', (_, value) => expect(errorsOf(isWorld, value)).not.toEqual([]));

  it('accept the settings that terrarium.json can have, and no others', () => {
    const settings = {
      $schema: './x.json',
      basePort: 0,
      limits: { logLines: 100 },
      corsOrigins: ['http://localhost:3000'],
    };
    expect(errorsOf(isSettings, settings)).toEqual([]);
    for (const wrong of [{ baseport: 1 }, { basePort: '1' }, { limits: { logLines: 0 } }, { fsync: 'sometimes' }])
      expect(errorsOf(isSettings, wrong)).not.toEqual([]);
  });
});
