import { expect, it } from 'vitest';
import { RoundRobin } from './round-robin.ts';

function turnsOf(...ids: string[]) {
  const clock = { nowMs: 0 };
  const instances = ids.map((instanceId) => ({ instanceId, host: '127.0.0.1', port: 1 }));
  const directory = { serving: () => instances, unavailableReason: () => '' };
  const turns = new RoundRobin(directory, () => clock.nowMs);
  const next = () =>
    turns
      .inOrder('c', 'web')
      .map(({ instanceId }) => instanceId)
      .join('');
  return { turns, next, clock, instances };
}

it('each call is the turn of the next, and names the others to fall back on', () => {
  const { next, instances } = turnsOf('a', 'b', 'c');
  expect([next(), next(), next(), next()]).toEqual(['abc', 'bca', 'cab', 'abc']);
  instances.pop();
  expect([next(), next()]).toEqual(['ab', 'ba']);
  instances.splice(0);
  expect(next()).toBe('');
});

it('an instance that is drained is left out until a minute after its time', async () => {
  const { turns, next, clock } = turnsOf('a', 'b');
  await turns.drain('a', 5_000);
  expect([next(), next()]).toEqual(['b', 'b']);
  clock.nowMs = 64_999;
  expect(next()).toBe('b');
  clock.nowMs = 65_000;
  expect(next()).toMatch(/^(ab|ba)$/);
});

it('a drain asks what is under way to go, waits for all of it, and cuts nothing that ended', async () => {
  const { turns } = turnsOf('a');
  const reported: string[] = [];
  const use = (name: string) => ({
    goAway: () => reported.push(`${name} go`),
    cut: () => reported.push(`${name} cut`),
  });
  const ends = [turns.begin('a', use('1')), turns.begin('a', use('2'))];
  turns.begin('b', use('other'));
  const drains = [turns.drain('a', 60_000), turns.drain('a', 60_000)];
  ends[0]?.();
  ends[0]?.();
  const first = await Promise.race([drains[0]?.then(() => 'drained'), Promise.resolve('waiting')]);
  expect(first).toBe('waiting');
  ends[1]?.();
  await Promise.all(drains);
  expect(reported).toEqual(['1 go', '2 go', '1 go', '2 go']);
});

it('requests that have not ended at the end of a drain are closed', async () => {
  const { turns } = turnsOf('a');
  const reported: string[] = [];
  turns.begin('a', { cut: () => reported.push('cut') });
  await turns.drain('a', 5);
  expect(reported).toEqual(['cut']);
});

it('stopping cuts everything and ends every drain', async () => {
  const { turns } = turnsOf('a');
  const reported: string[] = [];
  turns.begin('a', { cut: () => reported.push('cut') });
  const drained = turns.drain('a', 60_000);
  turns.stop();
  await drained;
  expect(reported).toContain('cut');
});
