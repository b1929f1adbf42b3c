import { expect, it } from 'vitest';
import { plainVariable, projectVariables, variablesFile } from './job-variables.ts';

const variable = (key: string, value: string, more = {}) => ({
  key,
  value,
  variable_type: 'env_var',
  protected: false,
  masked: false,
  raw: false,
  environment_scope: '*',
  ...more,
});
const BRANCHES = { branch: 'feature/a', defaultBranch: 'main' };

it('a branch gets what is not protected, the default branch gets all', () => {
  const all = [variable('A', '1'), variable('B', '2', { protected: true, masked: true })];
  const ofBranch = projectVariables(all, BRANCHES);
  expect(ofBranch).toMatchObject({ variables: [{ key: 'A' }], withheld: ['B'], secrets: ['2'] });
  expect(projectVariables(all, { ...BRANCHES, branch: 'main' })).toMatchObject({
    variables: [{ key: 'A' }, { key: 'B' }],
    withheld: [],
  });
});

it('a variable that acts before any job, as earlier versions took it, is refused before anything runs', () => {
  expect(() => projectVariables([variable('BASH_ENV', '/tmp/x')], BRANCHES)).toThrow(
    "the project's variable BASH_ENV is read by shells before a job's script begins, so nothing is run",
  );
});

it('the runner is told of each variable in full: kind, scopes, text as it is', () => {
  const text = variablesFile([
    plainVariable('HOME_PAGE', '/srv'),
    { ...plainVariable('RAW', 'a$B'), isRaw: true },
    { ...plainVariable('CA', '$x'), isFile: true, isRaw: true },
    { ...plainVariable('TIER', 'gold'), scope: 'review/a.b*' },
    plainVariable('TIER', 'free'),
    plainVariable('ODD', 'ü😀\u0085\u2028"\n'),
  ]);
  expect(JSON.parse(text)).toEqual({
    HOME_PAGE: { type: 'variable', values: { '*': '/srv' } },
    RAW: { type: 'variable', values: { '*': 'a$$B' } },
    CA: { type: 'file', values: { '*': '$x' } },
    TIER: { type: 'variable', values: { 'review/a\\.b*': 'gold', '*': 'free' } },
    ODD: { type: 'variable', values: { '*': 'ü😀\u0085\u2028"\n' } },
  });
  expect(text).toMatch(/^[\x20-\x7e\n]*$/);
});
