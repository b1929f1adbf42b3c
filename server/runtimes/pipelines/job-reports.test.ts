import { expect, it } from 'vitest';
import { coverageReader, testsIn } from './artifacts.ts';

it('JUnit reports are summed up, whatever their texts contain', () => {
  const first = `<?xml version="1.0"?><testsuites><testsuite name="s" tests="9">
    <testcase classname="c" name="a &lt; b > c"><failure message="no">expected <![CDATA[<testcase name="x">]]></failure></testcase>
    <testcase name='ok'/><!-- <testcase name="y"/> --><testcase name="later"><skipped/></testcase>
  </testsuite></testsuites>`;
  const second = '<testsuite><testcase name="e"><error/><failure/></testcase></testsuite>';
  expect(testsIn([first, second])).toEqual({ total: 4, failed: 2, skipped: 1, failing: ['a < b > c', 'e'] });
  expect(testsIn(['not XML <testcase name="', '<![CDATA['.repeat(20_000)])).toEqual({
    total: 0,
    failed: 0,
    skipped: 0,
    failing: [],
  });
});

it('the coverage is the first number of the last match in a line', () => {
  const read = coverageReader('/Lines *: \\d+(\\.\\d+)?%/i');
  expect(read('\u001b[32mLines: 70% lines : 081.256% of 12\u001b[0m')).toBe(81.26);
  expect(read('Branches: 70%')).toBe(undefined);
  expect(() => coverageReader('/(/')).toThrow('is not valid');
});
