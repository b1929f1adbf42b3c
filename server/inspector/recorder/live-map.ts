import {
  MAP_COLUMNS,
  type MapColumn,
  type MapEdge,
  type MapNode,
  type PassageView,
} from '../../api/routes/live-map.ts';
import type { Uuid } from '../../model/record.ts';

/** A part of the way of a request: it came to a node, from another one unless the caller may not see that. */
export interface Passage {
  seq: number;
  endedAtMs: number;
  from?: NodeId | undefined;
  to: NodeId;
  isFailed: boolean;
  executionId?: Uuid | undefined;
  requestSeq?: number | undefined;
  /** The invocation that this successful replay has fixed. */
  repairedId?: Uuid | undefined;
}

/** Id of a node: its column, and the id of its resource or another text that is unique in the column. */
export type NodeId = `${MapColumn}:${string}`;

interface MapInput {
  /** In the order in which they were recorded. */
  passages: readonly Passage[];
  /** Nodes that are there without a passage. */
  nodeIds: readonly NodeId[];
  describe(id: NodeId): Pick<MapNode, 'kind' | 'name' | 'resourceId'>;
  /** The configured target of an endpoint. */
  targetOf(id: NodeId): NodeId | undefined;
  /** Only later passages are listed. */
  listedFromMs: number;
}

interface NodeFigures extends Pick<MapNode, 'requests' | 'failed' | 'lastFailure'> {
  succeededInRow: number;
}

/** Number of nodes in a column; others are one node. */
export const MAX_NODES = 10;
const MAX_LISTED = 60;

/** Counts the passages of each node and edge. A column with more nodes keeps the failing and the busiest ones. */
export function toLiveMap({ passages, nodeIds, describe, targetOf, listedFromMs }: MapInput) {
  const repairedIds = new Set(passages.map(({ repairedId }) => repairedId));
  const isLost = ({ isFailed, executionId }: Passage) =>
    isFailed && (executionId === undefined || !repairedIds.has(executionId));
  const figures = new Map<NodeId, NodeFigures>();
  const figuresOf = (id: NodeId) => {
    const nodeFigures = figures.get(id) ?? { requests: 0, failed: 0, succeededInRow: 0 };
    figures.set(id, nodeFigures);
    return nodeFigures;
  };
  for (const id of nodeIds) figuresOf(id);
  let requests = 0;
  for (const passage of passages) {
    const { executionId, requestSeq } = passage;
    const target = figuresOf(passage.to);
    target.requests += 1;
    target.succeededInRow = isLost(passage) ? 0 : target.succeededInRow + 1;
    if (isLost(passage)) {
      target.failed += 1;
      target.lastFailure = executionId !== undefined ? { executionId } : { requestSeq };
    }
    const isFirst = passage.from === undefined || columnOf(passage.from) === 'callers';
    if (isFirst) requests += 1;
    if (passage.from === undefined) continue;
    const source = figuresOf(passage.from);
    if (isFirst) source.requests += 1;
  }
  const isFailing = ({ failed, succeededInRow }: NodeFigures) => failed > succeededInRow;
  const drawnIds = new Set<NodeId>();
  const hiddenNodes: MapNode[] = [];
  for (const column of MAP_COLUMNS) {
    const sorted = [...figures]
      .filter(([id]) => columnOf(id) === column)
      .sort(([, a], [, b]) => Number(isFailing(b)) - Number(isFailing(a)) || b.requests - a.requests);
    for (const [id] of sorted.slice(0, MAX_NODES)) drawnIds.add(id);
    const hiddenFigures = sorted.slice(MAX_NODES).map(([, nodeFigures]) => nodeFigures);
    if (hiddenFigures.length === 0) continue;
    hiddenNodes.push({
      ...{ id: moreId(column), column, kind: 'more', name: `and ${hiddenFigures.length.toLocaleString('en')} more` },
      requests: sumOf(hiddenFigures.map(({ requests }) => requests)),
      failed: sumOf(hiddenFigures.map(({ failed }) => failed)),
      isFailing: hiddenFigures.some(isFailing),
      lastFailure: hiddenFigures.find(({ lastFailure }) => lastFailure)?.lastFailure,
    });
  }
  const drawnIdOf = (id: NodeId) => (drawnIds.has(id) ? id : moreId(columnOf(id)));
  const edges = new Map<string, MapEdge>();
  const edgeBetween = (from: string, to: string) => {
    const key = `${from} ${to}`;
    const edge = edges.get(key) ?? { from, to, requests: 0, failed: 0 };
    edges.set(key, edge);
    return edge;
  };
  const views: PassageView[] = [];
  for (const passage of passages) {
    if (passage.from === undefined) continue;
    const [from, to] = [drawnIdOf(passage.from), drawnIdOf(passage.to)];
    const edge = edgeBetween(from, to);
    edge.requests += 1;
    if (isLost(passage)) edge.failed += 1;
    if (passage.endedAtMs >= listedFromMs) views.push({ seq: passage.seq, from, to, isFailed: passage.isFailed });
  }
  for (const id of drawnIds) {
    const targetId = targetOf(id);
    if (targetId !== undefined && figures.has(targetId)) edgeBetween(id, drawnIdOf(targetId));
  }
  const nodes = Array.from(drawnIds, (id): MapNode => {
    const { succeededInRow: _, ...counts } = figuresOf(id);
    return { id, column: columnOf(id), ...describe(id), ...counts, isFailing: isFailing(figuresOf(id)) };
  });
  nodes.sort((a, b) => a.name.localeCompare(b.name, 'en'));
  return {
    requests,
    nodes: [...nodes, ...hiddenNodes],
    edges: [...edges.values()],
    passages: views.slice(-MAX_LISTED),
  };
}

export const columnOf = (id: NodeId) => id.slice(0, id.indexOf(':')) as MapColumn; // each id begins with one
const moreId = (column: MapColumn): NodeId => `${column}:more`;
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);
