import { expect, it } from 'vitest';
import { faultOfYaml } from './yaml-faults.ts';

it('a YAML text with more than two million words and marks exceeds the limits, before it is read as a whole', () => {
  const line = `- [${'a,'.repeat(1000)}]\n`;
  expect(faultOfYaml(line.repeat(10))).toBeUndefined();
  expect(faultOfYaml(line.repeat(1000))).toEqual({
    reason: 'it has more than 2000000 words and marks',
    line: expect.any(Number),
  });
});
