import { expect, it } from 'vitest';
import type { MapColumn, MapNode } from '../../../../server/api/routes/live-map.ts';
import { edgeKey, layoutMap, MIN_WIDTH_PX } from './map-layout.ts';

const node = (column: MapColumn, id: string, kind: MapNode['kind'] = 'lambda'): MapNode => ({
  ...{ id, column, kind, name: id, requests: 0, failed: 0, isFailing: false },
});
const edge = (from: string, to: string) => ({ from, to, requests: 1, failed: 0 });
const MAP = {
  nodes: [
    ...['a', 'b'].map((id) => node('endpoints', id)),
    ...['for-b', 'for-a', 'idle'].map((id) => node('targets', id)),
    node('targets', 'others', 'more'),
  ],
  edges: [edge('a', 'for-a'), edge('b', 'for-b'), edge('b', 'others'), edge('b', 'absent')],
};

it('puts a node near the nodes that lead to it, and the node for all others last', () => {
  const { columns } = layoutMap(MAP, 1200);
  expect(columns.map(({ nodes }) => nodes.map(({ node: { id } }) => id))).toEqual([
    [],
    ['a', 'b'],
    ['for-a', 'for-b', 'idle', 'others'],
    [],
  ]);
});

it('draws an edge from the right of a node to the left of another one, and none without both', () => {
  const { paths, columns, nodeWidth } = layoutMap(MAP, 1200);
  expect([...paths.keys()]).toEqual(MAP.edges.slice(0, 3).map(edgeKey));
  const start = `M${(columns[1]?.x ?? 0) + nodeWidth} `;
  for (const path of paths.values()) expect(path.startsWith(start)).toBe(true);
});

it('has a minimum width, and nodes that do not overlap', () => {
  for (const width of [0, 390, 1024, 2560]) {
    const layout = layoutMap(MAP, width);
    expect(layout.width).toBe(Math.max(MIN_WIDTH_PX, width));
    const [first, second] = layout.columns;
    expect((second?.x ?? 0) - (first?.x ?? 0)).toBeGreaterThan(layout.nodeWidth + 20);
  }
});
