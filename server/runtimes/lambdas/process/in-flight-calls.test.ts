import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type Ending, InFlightCalls } from './in-flight-calls.ts';

const noBytes = Buffer.alloc(0);
const outcomeOf = (number: number, written: { hasWritten?: true } = {}): Ending & { kind: 'outcome' } => ({
  kind: 'outcome',
  head: { number, kind: 'nothing', atMs: 0, ranMs: 0, computedMs: 0, waitedMs: 0, ...written },
  body: noBytes,
});

/** Calls that write down what they receive. */
function calls() {
  const reported: string[] = [];
  const call = new InFlightCalls(100, { onLine: () => {}, onLate: () => {}, goOn: () => {}, concluded: () => {} });
  const add = (name: string) =>
    call.add({
      began: () => reported.push(`${name} began`),
      line: (_stream, text) => reported.push(`${name} wrote ${text}`),
      outbound: ({ id }) => reported.push(`${name} called ${id}`),
      takesLateCalls: () => false,
      noted: (text) => reported.push(`${name} noted ${text}`),
      ended: () => reported.push(`${name} ended`),
    }).number;
  /** As a subprocess's report is delivered: to the call that runs when it comes. */
  const reportOutbound = (id: number) => {
    const number = call.running;
    if (number !== undefined) call.outbound({ id, number }, noBytes);
  };
  return { reported, given: call, add, news: reportOutbound };
}

it('a report of a subprocess that overtakes the beginning of a call belongs to it', () => {
  const { reported, given: call, add, news: reportOutbound } = calls();
  reportOutbound(1);
  const first = add('first');
  reportOutbound(2);
  call.began(first, 0);
  reportOutbound(3);
  expect(reported).toEqual(['first called 2', 'first began', 'first called 3']);
});

it('news that the end of a call overtakes belongs to it still, though another lies ready', async () => {
  const { reported, given: call, add, news: reportOutbound } = calls();
  const [first, second] = [add('first'), add('second')];
  call.began(first, 0);
  call.ended(outcomeOf(first));
  reportOutbound(1);
  await nextTurn();
  call.began(second, 0);
  reportOutbound(2);
  call.ended(outcomeOf(second));
  reportOutbound(3);
  await nextTurn();
  reportOutbound(4);
  const [ofFirst, ofSecond] = [reported.slice(0, 3), reported.slice(3)];
  expect(ofFirst).toEqual(['first began', 'first called 1', 'first ended']);
  expect(ofSecond).toEqual(['second began', 'second called 2', 'second called 3', 'second ended']);
});

it('a line that the end of a call overtakes belongs to it still', async () => {
  const { reported, given: call, add } = calls();
  const first = add('first');
  call.began(first, 0);
  call.ended(outcomeOf(first, { hasWritten: true }));
  await nextTurn();
  call.write('stderr', Buffer.from('a line\n'));
  await nextTurn();
  expect(reported).toEqual(['first began', 'first wrote a line', 'first ended']);
});

it('a note is behind the lines that it has overtaken, and before the end of its call', async () => {
  const { reported, given: call, add } = calls();
  const [first, second] = [add('first'), add('second')];
  call.began(first, 0);
  call.note({ number: first, message: 'at once', writtenBytes: 0 });
  call.note({ number: first, message: 'behind', writtenBytes: 5 });
  call.note({ number: first, message: 'at the end', writtenBytes: 9 });
  call.write('stdout', Buffer.from('line\n'));
  call.ended(outcomeOf(first, { hasWritten: true }));
  await nextTurn();
  await nextTurn();
  expect(reported).toEqual([
    'first began',
    'first noted at once',
    'first wrote line',
    'first noted behind',
    'first noted at the end',
    'first ended',
  ]);
  call.note({ number: second, message: 'of the next', writtenBytes: 5 });
  expect(reported.at(-1)).toBe('second noted of the next');
});
