import { describe, expect, it } from 'vitest';
import { blockOf, blocksOfRows, isComplete, readBlock, seqsOf } from './commit-blocks.ts';
import type { BriefCommit, CommitPage } from './history-answers.ts';

const commit = (seq: number): BriefCommit => ({
  seq,
  at: '2026-01-01T00:00:00.000Z',
  cause: { actor: null, via: 'api' },
  operations: 1,
  sentence: 'root created it',
  resources: [],
});

/** A history of this many commits, in pages of at most `pageSize`. */
const historyOf = (newest: number, pageSize: number) => {
  let requestCount = 0;
  const loadPage = async (before: number, limit: number): Promise<CommitPage> => {
    requestCount += 1;
    const last = Math.min(before - 1, newest);
    const first = Math.max(1, last - Math.min(limit, pageSize) + 1);
    const commits = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => commit(last - index));
    return { commits, ...(first > 1 && commits.length > 0 && { next: first }), oldest: 0, newest };
  };
  return { loadPage, asked: () => requestCount };
};

describe('blocks of commits', () => {
  it('divide the history without gaps', () => {
    expect([1, 200, 201, 400, 401].map(blockOf)).toEqual([0, 0, 1, 1, 2]);
    expect([isComplete(0, 199), isComplete(0, 200), isComplete(1, 399)]).toEqual([false, true, false]);
  });

  it('of rows are those that the rows are in', () => {
    expect(blocksOfRows(0, 40, 20_000)).toEqual([99]);
    expect(blocksOfRows(180, 220, 20_000)).toEqual([98, 99]);
    expect(blocksOfRows(19_990, 19_999, 20_000)).toEqual([0]);
    expect(blocksOfRows(0, 10, 3)).toEqual([0]);
  });

  it.each([1000, 70, 1])('are read to the end, with pages of %i', async (pageSize) => {
    const { loadPage } = historyOf(450, pageSize);
    expect((await readBlock(1, loadPage)).map(({ seq }) => seq)).toEqual(seqsOf({ oldest: 200, newest: 400 }));
    expect((await readBlock(2, loadPage)).map(({ seq }) => seq)).toEqual(seqsOf({ oldest: 400, newest: 450 }));
  });

  it('are asked for once when one page contains them', async () => {
    const { loadPage, asked: countRequests } = historyOf(450, 1000);
    await readBlock(0, loadPage);
    expect(countRequests()).toBe(1);
  });

  it('end where nothing is kept', async () => {
    const { loadPage } = historyOf(0, 10);
    expect(await readBlock(0, loadPage)).toEqual([]);
    expect(seqsOf({ oldest: 0, newest: 0 })).toEqual([]);
  });
});
