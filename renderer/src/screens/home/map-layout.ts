import type { MapColumn, MapEdge, MapNode } from '../../../../server/api/routes/live-map.ts';

export const COLUMN_TITLES: Readonly<Record<MapColumn, string>> = {
  callers: 'Who calls',
  endpoints: 'Gateway',
  targets: 'Lambdas and containers',
  outside: 'Outside',
};
export const MAP_COLUMNS = Object.keys(COLUMN_TITLES) as readonly MapColumn[]; // its keys

export const NODE_HEIGHT_PX = 46;
/** Space for the headings of the columns. */
export const HEAD_PX = 26;
const ROW_PX = NODE_HEIGHT_PX + 12;
const MAX_NODE_WIDTH_PX = 240;
const MIN_GAP_PX = 32;
/** With less space than this, the map scrolls. */
export const MIN_WIDTH_PX = 760;

export interface MapLayout {
  width: number;
  height: number;
  nodeWidth: number;
  columns: readonly { column: MapColumn; x: number; nodes: readonly { node: MapNode; y: number }[] }[];
  /** The curve of each edge, as the data of an SVG path, by `edgeKey`. */
  paths: ReadonlyMap<string, string>;
}

export const edgeKey = ({ from, to }: Pick<MapEdge, 'from' | 'to'>) => `${from} ${to}`;

/** Positions of nodes in four columns. A node is near the nodes that lead to it, so that few edges cross. */
export function layoutMap(
  { nodes, edges }: { nodes: readonly MapNode[]; edges: readonly MapEdge[] },
  availablePx: number,
): MapLayout {
  const width = Math.max(MIN_WIDTH_PX, availablePx);
  const nodeWidth = Math.min(MAX_NODE_WIDTH_PX, Math.trunc((width - 3 * MIN_GAP_PX) / 4));
  const step = (width - nodeWidth) / 3;
  const byColumn = MAP_COLUMNS.map((column) => nodes.filter((node) => node.column === column));
  const rows = Math.max(2, ...byColumn.map(({ length }) => length));
  const height = HEAD_PX + rows * ROW_PX;
  const positions = new Map<string, { x: number; y: number }>();
  const columns = MAP_COLUMNS.map((column, index) => {
    const columnNodes = byColumn[index] ?? [];
    const x = Math.round(index * step);
    const top = HEAD_PX + ((rows - columnNodes.length) * ROW_PX) / 2;
    const placed = sortBySources(columnNodes, edges, positions).map((node, row) => ({ node, y: top + row * ROW_PX }));
    for (const { node, y } of placed) positions.set(node.id, { x, y });
    return { column, x, nodes: placed };
  });
  const paths = new Map<string, string>();
  for (const edge of edges) {
    const [start, end] = [positions.get(edge.from), positions.get(edge.to)];
    if (!start || !end) continue;
    const [fromX, fromY, toY] = [start.x + nodeWidth, start.y + NODE_HEIGHT_PX / 2, end.y + NODE_HEIGHT_PX / 2];
    const middle = (fromX + end.x) / 2;
    paths.set(edgeKey(edge), `M${fromX} ${fromY} C${middle} ${fromY} ${middle} ${toY} ${end.x} ${toY}`);
  }
  return { width, height, nodeWidth, columns, paths };
}

/** The node that is the sum of others stays last. */
function sortBySources(
  nodes: readonly MapNode[],
  edges: readonly MapEdge[],
  positions: ReadonlyMap<string, { y: number }>,
): MapNode[] {
  const meanY = (id: string) => {
    const sources = edges.flatMap(({ from, to }) => (to === id ? (positions.get(from)?.y ?? []) : []));
    return sources.length === 0 ? Number.MAX_VALUE : sources.reduce((sum, y) => sum + y, 0) / sources.length;
  };
  const keyed = nodes.map((node) => ({ node, isMore: Number(node.kind === 'more'), y: meanY(node.id) }));
  return keyed.sort((a, b) => a.isMore - b.isMore || a.y - b.y).map(({ node }) => node);
}
