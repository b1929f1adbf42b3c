import { describe, expect, it } from 'vitest';
import { MAX_NODES, type NodeId, type Passage, toLiveMap } from './live-map.ts';

let seq = 0;
const passage = (from: NodeId, to: NodeId, more: Partial<Passage> = {}): Passage => {
  seq += 1;
  return { seq, endedAtMs: seq, from, to, isFailed: false, ...more };
};
const mapOf = (passages: Passage[], nodeIds: NodeId[] = [], listedFromMs = 0) =>
  toLiveMap({
    ...{ passages, nodeIds, listedFromMs },
    describe: (id) => ({ kind: 'caller', name: id }),
    targetOf: (id) => (id === 'endpoints:lead' ? 'targets:form' : undefined),
  });
const WAY = [
  passage('callers:anonymous', 'endpoints:lead'),
  passage('endpoints:lead', 'targets:form'),
  passage('targets:form', 'outside:crm'),
];

describe('toLiveMap', () => {
  it('counts the requests of each node and edge', () => {
    const { nodes, edges, requests } = mapOf([...WAY, ...WAY]);
    expect(requests).toBe(2);
    expect(nodes.map(({ id, requests, failed }) => [id, requests, failed])).toEqual([
      ['callers:anonymous', 2, 0],
      ['endpoints:lead', 2, 0],
      ['outside:crm', 2, 0],
      ['targets:form', 2, 0],
    ]);
    expect(edges.map(({ from, to, requests }) => `${from} ${to} ${requests}`)).toEqual([
      'callers:anonymous endpoints:lead 2',
      'endpoints:lead targets:form 2',
      'targets:form outside:crm 2',
    ]);
  });

  it('shows a configured target without requests, and nodes without edges', () => {
    const { nodes, edges } = mapOf([], ['endpoints:lead', 'targets:form', 'outside:crm']);
    expect(nodes.every(({ requests, isFailing }) => requests === 0 && !isFailing)).toBe(true);
    expect(edges).toEqual([{ from: 'endpoints:lead', to: 'targets:form', requests: 0, failed: 0 }]);
  });

  it('keeps a failure at the node where it stopped until as many requests in a row succeed', () => {
    const failure = passage('endpoints:lead', 'targets:form', { isFailed: true, executionId: 'e1' });
    const good = passage('endpoints:lead', 'targets:form');
    const find = (passages: Passage[]) => mapOf(passages).nodes.find(({ id }) => id === 'targets:form');
    expect(find([good, failure])).toMatchObject({ failed: 1, isFailing: true, lastFailure: { executionId: 'e1' } });
    expect(find([failure, failure, good])).toMatchObject({ failed: 2, isFailing: true });
    expect(find([failure, good])).toMatchObject({ failed: 1, isFailing: false });
    const replay = passage('callers:replay', 'targets:form', { repairedId: 'e1' });
    expect(find([failure, failure, replay])).toMatchObject({ requests: 3, failed: 0, isFailing: false });
  });

  it('draws the failing and the busiest of 300 lambdas, and one node for the others', () => {
    const ids = Array.from({ length: 300 }, (_, index): NodeId => `targets:${index}`);
    const busy = ids.slice(200, 205).map((id) => passage('callers:manual', id));
    const failed = passage('callers:manual', 'targets:299', { isFailed: true, requestSeq: 7 });
    const quiet = ids.slice(0, 100).map((id) => passage('callers:manual', id));
    const { nodes, edges } = mapOf([...busy, ...busy, failed, ...quiet], ids);
    const targets = nodes.filter(({ column }) => column === 'targets');
    expect(targets).toHaveLength(MAX_NODES + 1);
    expect(targets.map(({ id }) => id)).toEqual(expect.arrayContaining(['targets:299', 'targets:200', 'targets:204']));
    expect(targets.at(-1)).toMatchObject({ kind: 'more', name: 'and 290 more', requests: 96, isFailing: false });
    const sum = edges.reduce((total, { requests }) => total + requests, 0);
    expect(sum).toBe(busy.length * 2 + 1 + quiet.length);
  });

  it('lists only the newest passages, and none whose origin is hidden', () => {
    const hidden = { ...passage('endpoints:lead', 'targets:form'), from: undefined };
    const newest = passage('callers:anonymous', 'endpoints:lead');
    const { passages, edges, nodes, requests } = mapOf([...WAY, hidden, newest], [], newest.endedAtMs - 1);
    expect(passages).toEqual([{ seq: newest.seq, from: newest.from, to: newest.to, isFailed: false }]);
    expect(edges).toHaveLength(3);
    expect(requests).toBe(3);
    expect(nodes.find(({ id }) => id === 'targets:form')?.requests).toBe(2);
  });
});
