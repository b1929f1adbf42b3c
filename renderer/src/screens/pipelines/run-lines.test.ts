import { expect, it } from 'vitest';
import type { PipelineJob } from '../../../../server/model/pipeline-run.ts';
import { lastWords, runLines } from './run-lines.ts';

const jobs: PipelineJob[] = ['deploy', 'deploy app'].map((name) => ({ name, stage: 'deploy', state: 'waiting' }));
const LOG = [
  'json schema validated in 835 ms',
  '[08:13:08 1.98 ms] deploy     starting shell (deploy)',
  '[08:13:08 9.42 ms] deploy     $ sh ci/platform.sh deploy "$IMAGE"',
  '[08:13:08 9.43 ms] deploy app > the other one',
  '[08:13:09  740 ms] deploy     >   the platform refused: $ no > yes',
  '[08:13:09  741 ms] deploy     > ',
  '[08:13:09  741 ms] deploy     finished in 741 ms FAIL 1  ',
  ' FAIL  [ 741 ms] deploy',
];

it('takes the lines of a log apart by job', () => {
  const lines = runLines(LOG, jobs);
  expect(lines.map(({ key }) => key)).toEqual(LOG.map((_, index) => index));
  expect(lines.map(({ job, clock, kind, text, isFailure }) => [job, clock, kind, text, isFailure])).toEqual([
    [undefined, undefined, 'runner', 'json schema validated in 835 ms', false],
    ['deploy', '08:13:08', 'mark', 'starting shell (deploy)', false],
    ['deploy', '08:13:08', 'command', '$ sh ci/platform.sh deploy "$IMAGE"', false],
    ['deploy app', '08:13:08', 'output', 'the other one', false],
    ['deploy', '08:13:09', 'output', '  the platform refused: $ no > yes', false],
    ['deploy', '08:13:09', 'output', '', false],
    ['deploy', '08:13:09', 'mark', 'finished in 741 ms FAIL 1  ', true],
    [undefined, undefined, 'runner', ' FAIL  [ 741 ms] deploy', true],
  ]);
  expect(lastWords(lines, 'deploy', 5)).toEqual(['  the platform refused: $ no > yes']);
  expect(lastWords(lines, 'deploy app', 5)).toEqual(['the other one']);
});

it('keeps a line that looks like none of these as it is', () => {
  const lines = runLines(['', '[x] deploy > y', 'deploy > no stamp', '[08:13:08 1 ms] stranger > z'], jobs);
  expect(lines.map(({ job, text }) => [job, text])).toEqual([
    [undefined, ''],
    [undefined, '[x] deploy > y'],
    [undefined, 'deploy > no stamp'],
    [undefined, 'stranger > z'],
  ]);
});
