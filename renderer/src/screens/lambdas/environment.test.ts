import { expect, it } from 'vitest';
import type { PlatformRecord } from '../../api/use-world.ts';
import { variablesOf } from './environment.ts';

const record = (id: string, env?: unknown): PlatformRecord => ({
  id,
  name: id,
  resource_type: 'x',
  resource_state: 'Active',
  org: { id: 'o', typeId: 't' },
  properties: { env },
});

it('shows the nearest value of each variable, and whom it overrides', () => {
  const [lambda, environment, root] = [
    record('lambda', { A: '1' }),
    record('environment', { A: '2', B: '3' }),
    record('root'),
  ];
  expect(variablesOf(lambda, { above: [environment, root] })).toEqual([
    { name: 'A', value: '1', from: lambda, overrides: [environment] },
    { name: 'B', value: '3', from: environment, overrides: [] },
  ]);
});

it('shows variables of a place that the user may not view without saying where they are set', () => {
  const [lambda, environment] = [record('lambda', { A: '1' }), record('environment', { B: '2' })];
  const merged = { A: '1', B: '2', C: '3' };
  expect(variablesOf(lambda, { above: [environment], merged })).toEqual([
    { name: 'A', value: '1', from: lambda, overrides: [] },
    { name: 'B', value: '2', from: environment, overrides: [] },
    { name: 'C', value: '3', from: undefined, overrides: [] },
  ]);
});
