import { expect, it } from 'vitest';
import { masked } from './mask.ts';

it('no text within a value shows a secret, or the rest of one that contains another', () => {
  const reported = {
    log: ['a hunter22', 'hunter22-more hunter22'],
    jobs: [{ name: 'x', exitCode: 1 }],
    none: undefined,
  };
  expect(masked(reported, ['hunter22', 'hunter22-more', ''])).toEqual({
    log: ['a [masked]', '[masked] [masked]'],
    jobs: [{ name: 'x', exitCode: 1 }],
  });
});
