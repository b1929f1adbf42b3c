import { expect, it } from 'vitest';
import { masked } from './masked-text.ts';

it('no text within a value shows a secret, nor what is left of one that holds another', () => {
  const told = { log: ['a hunter22', 'hunter22-more hunter22'], jobs: [{ name: 'x', exitCode: 1 }], none: undefined };
  expect(masked(told, ['hunter22', 'hunter22-more', ''])).toEqual({
    log: ['a [masked]', '[masked] [masked]'],
    jobs: [{ name: 'x', exitCode: 1 }],
  });
});
