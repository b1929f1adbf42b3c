import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type Ending, GivenCalls } from './given-calls.ts';

const nothing = Buffer.alloc(0);
const outcomeOf = (number: number, written: { hasWritten?: true } = {}): Ending & { kind: 'outcome' } => ({
  kind: 'outcome',
  head: { number, kind: 'nothing', atMs: 0, ranMs: 0, computedMs: 0, waitedMs: 0, ...written },
  body: nothing,
});

/** Calls that write down what they are told. */
function calls() {
  const told: string[] = [];
  const given = new GivenCalls(100, { onLine: () => {}, goOn: () => {}, concluded: () => {} });
  const add = (name: string) =>
    given.add({
      began: () => told.push(`${name} began`),
      line: (_stream, text) => told.push(`${name} wrote ${text}`),
      outbound: ({ id }) => told.push(`${name} called ${id}`),
      goesOn: () => false,
      noted: (text) => told.push(`${name} noted ${text}`),
      ended: () => told.push(`${name} ended`),
    }).number;
  /** As an offspring's news is told: to the call that runs when it comes. */
  const news = (id: number) => {
    const number = given.running;
    if (number !== undefined) given.outbound({ id, number }, nothing);
  };
  return { told, given, add, news };
}

it('news of offspring that overtakes the beginning of a call belongs to it', () => {
  const { told, given, add, news } = calls();
  news(1);
  const first = add('first');
  news(2);
  given.began(first, 0);
  news(3);
  expect(told).toEqual(['first called 2', 'first began', 'first called 3']);
});

it('news that the end of a call overtakes belongs to it still, though another lies ready', async () => {
  const { told, given, add, news } = calls();
  const [first, second] = [add('first'), add('second')];
  given.began(first, 0);
  given.ended(outcomeOf(first));
  news(1);
  await nextTurn();
  given.began(second, 0);
  news(2);
  given.ended(outcomeOf(second));
  news(3);
  await nextTurn();
  news(4);
  const [ofFirst, ofSecond] = [told.slice(0, 3), told.slice(3)];
  expect(ofFirst).toEqual(['first began', 'first called 1', 'first ended']);
  expect(ofSecond).toEqual(['second began', 'second called 2', 'second called 3', 'second ended']);
});

it('a line that the end of a call overtakes belongs to it still', async () => {
  const { told, given, add } = calls();
  const first = add('first');
  given.began(first, 0);
  given.ended(outcomeOf(first, { hasWritten: true }));
  await nextTurn();
  given.write('stderr', Buffer.from('a line\n'));
  await nextTurn();
  expect(told).toEqual(['first began', 'first wrote a line', 'first ended']);
});

it('a note stands behind the lines that it has overtaken, and before the end of its call', async () => {
  const { told, given, add } = calls();
  const [first, second] = [add('first'), add('second')];
  given.began(first, 0);
  given.note({ number: first, message: 'at once', writtenBytes: 0 });
  given.note({ number: first, message: 'behind', writtenBytes: 5 });
  given.note({ number: first, message: 'at the end', writtenBytes: 9 });
  given.write('stdout', Buffer.from('line\n'));
  given.ended(outcomeOf(first, { hasWritten: true }));
  await nextTurn();
  await nextTurn();
  expect(told).toEqual([
    'first began',
    'first noted at once',
    'first wrote line',
    'first noted behind',
    'first noted at the end',
    'first ended',
  ]);
  given.note({ number: second, message: 'of the next', writtenBytes: 5 });
  expect(told.at(-1)).toBe('second noted of the next');
});
