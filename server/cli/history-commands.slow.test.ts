import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildCommand, CliRunner } from '../testing/command.ts';

let cli: CliRunner;
beforeAll(async () => {
  await buildCommand();
  cli = new CliRunner();
  await cli.start(['start', '--instance', 'past']).waitForOutput('Ctrl+C');
});
afterAll(() => cli?.close());

const AT = ['--instance', 'past'];
const run = (...args: string[]) => cli.runInProcess([...args, ...AT]);
const json = (...args: string[]) => cli.json(...args, ...AT);
const describeDemo = async (description: string): Promise<number> => {
  const input = JSON.stringify({ format: 1, orgs: { demo: { description } } });
  const { out } = await cli.runInProcess(['apply', '-f', '-', '--json', ...AT], { input });
  return JSON.parse(out).commit;
};
const description = async () => (await json('export', '--scope', '/demo')).orgs.demo.description;

it('history lists, shows, compares, reverts and restores changes', async () => {
  const first = await describeDemo('Ferns');
  const second = await describeDemo('Moss');
  const commits = await json('history', '--via', 'seed', '--limit', '1');
  expect(commits).toMatchObject([{ seq: second, cause: { actor: { name: 'root' } }, resources: [{ path: '/demo' }] }]);
  expect((await run('history')).out).toMatch(new RegExp(`^${second} .* root +seed +world.apply +/demo\n${first} `));
  expect((await run('history', 'show', String(second))).out).toMatch(
    /~ Resource::Organization \/demo\n.*replace \/description "Moss"/s,
  );
  expect((await run('history', 'diff', String(first), String(second))).out).toContain('replace /description "Moss"');
  expect((await run('history', 'diff', String(second))).out).toBe('no difference\n');

  const inTheWay = await run('history', 'revert', String(first));
  expect(inTheWay).toMatchObject({ exitCode: 2, out: '', err: expect.stringContaining('409') });
  expect(await json('history', 'revert', String(second))).toMatchObject({
    commit: { seq: second + 1, cause: { via: 'cli' } },
  });
  expect(await description()).toBe('Ferns');
  expect((await run('history', 'restore', String(second))).out).toContain('replace /description "Moss"');
  expect(await json('history', 'restore', String(second))).toEqual({ commit: null });
});

it('snapshot saves, compares, restores and deletes a world', async () => {
  await describeDemo('To be kept');
  expect(await json('snapshot', 'save', 'good')).toMatchObject({ name: 'good' });
  expect(await run('snapshot', 'save', 'good')).toMatchObject({ exitCode: 2, out: '' });
  expect((await run('snapshot', 'diff', 'good')).out).toBe('no difference\n');
  await describeDemo('Not so good');
  expect((await json('snapshot', 'diff', 'good')).resources).toMatchObject([{ path: '/demo', action: 'update' }]);
  expect((await run('snapshot', 'restore', 'good')).exitCode).toBe(0);
  expect(await description()).toBe('To be kept');
  const newAccount = JSON.stringify({ format: 1, orgs: { demo: { users: { 'grace.hopper': {} } } } });
  await cli.runInProcess(['apply', '-f', '-', ...AT], { input: newAccount });
  expect((await run('snapshot', 'restore', 'good')).out).toMatch(
    /^deleted accounts: \/demo\/grace\.hopper\. Their users cannot sign in\. To undo it: history revert \d+$/m,
  );
  expect((await run('snapshot')).out).toMatch(/^good {2}\S+Z {2}as of commit \d+ {2}\d+ KiB\n$/);
  expect(await json('snapshot', 'delete', 'good')).toEqual({ deleted: 'good' });
  expect(await json('snapshot', 'list')).toEqual([]);
});

it('import replaces an instance with an exported archive, and rejects a damaged one', async () => {
  await describeDemo('Imported');
  expect((await json('export', '-o', 'all.zip')).files).toEqual([join(cli.folder, 'all.zip')]);
  const archive = readFileSync(join(cli.folder, 'all.zip'));
  writeFileSync(join(cli.folder, 'half.zip'), archive.subarray(0, archive.length / 2));

  await cli.start(['start', '--instance', 'other', '--seed', 'empty']).waitForOutput('Ctrl+C');
  const otherInstance = ['--instance', 'other'];
  const refused = await cli.runInProcess(['import', 'half.zip', ...otherInstance]);
  expect(refused).toMatchObject({ exitCode: 2, out: '', err: expect.stringContaining('Nothing was changed') });
  expect(await cli.json('import', 'all.zip', ...otherInstance)).toMatchObject({ commit: { seq: expect.any(Number) } });
  expect((await cli.json('export', ...otherInstance)).orgs.demo.description).toBe('Imported');
  expect(await cli.runInProcess(['import', 'none.zip', ...otherInstance])).toMatchObject({ exitCode: 2, out: '' });
  expect(await run('export', '-o', 'all.zip', '--scope', '/demo')).toMatchObject({ exitCode: 2, out: '' });
});

it('invalid arguments are rejected with one line', async () => {
  for (const args of [
    ['show', 'x'],
    ['revert', '99999'],
    ['diff', 'then'],
    ['restore', 'then'],
    ['list', '--limit', '0'],
    ['list', '--from', 'then'],
  ]) {
    const { exitCode, out, err } = await run('history', ...args);
    expect([exitCode, out, err.split('\n').length], args.join(' ')).toEqual([2, '', 2]);
  }
});
