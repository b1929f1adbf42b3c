import { expect, it } from 'vitest';
import { logEntries } from './log-entries.ts';

const at = '2026-01-31T09:30:00.000Z';
const out = (text: string) => ({ at, stream: 'stdout' as const, text });
const err = (text: string) => ({ at, stream: 'stderr' as const, text });

it('makes one entry of a stack trace, without the frames that are not of the lambda', () => {
  const entries = logEntries([
    out('begins'),
    err('TypeError: no such thing'),
    err('    at exports.run (/tmp/code/8c6c/index.js:3:9)'),
    err('    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)'),
    err('    at async invoke (/opt/terrarium/dist/server/child.js:7:1)'),
    err("  code: 'E_THING'"),
    err('another line'),
    out('    at the end'),
  ]);
  expect(entries.map(({ text }) => text)).toEqual([
    'begins',
    "TypeError: no such thing\n    at exports.run (/tmp/code/8c6c/index.js:3:9)\n  code: 'E_THING'",
    'another line',
    '    at the end',
  ]);
  expect(entries[1]?.foldedFrames).toEqual([
    'at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
    'at async invoke (/opt/terrarium/dist/server/child.js:7:1)',
  ]);
});

it('keeps the traces of two replicas apart, with all frames', () => {
  const lineOf = (instance: string, text: string) => ({ ...err(text), instance });
  const entries = logEntries(
    [
      lineOf('a', 'Error: one'),
      lineOf('b', 'Error: two'),
      lineOf('a', '    at node:net:1:1'),
      lineOf('b', '    at two.js:2:2'),
    ],
    false,
  );
  expect(entries.map(({ text }) => text)).toEqual(['Error: one\n    at node:net:1:1', 'Error: two\n    at two.js:2:2']);
});
