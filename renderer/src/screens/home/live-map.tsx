import { useEffect, useId, useMemo, useRef, useState } from 'react';
import type { MapEdge, PassageView } from '../../../../server/api/routes/live-map.ts';
import { live } from '../../api/live.ts';
import { useMissingOf } from '../../api/permissions.tsx';
import { keys } from '../../api/query-client.ts';
import { useRead } from '../../api/use-read.ts';
import { Time } from '../../components/amount.tsx';
import { counted } from '../../components/amounts.ts';
import { Pending } from '../../components/pending.tsx';
import { Segments } from '../../components/segments.tsx';
import { TableHead } from '../../components/table-head.tsx';
import { useWidth } from '../../components/use-width.ts';
import { useSearch } from '../../url.ts';
import { useValue } from '../../value-store.ts';
import {
  COLUMN_TITLES,
  edgeKey,
  HEAD_PX,
  layoutMap,
  MAP_COLUMNS,
  type MapLayout,
  NODE_HEIGHT_PX,
} from './map-layout.ts';
import { FailureLink, MapNodeCard } from './map-node.tsx';

/** An hour passes without any request, too. */
const REFRESH_MS = 60_000;
const VIEWS = [
  { id: 'map', text: 'Map' },
  { id: 'table', text: 'Table' },
];

function useLiveMap() {
  const [{ scope }] = useSearch();
  return useRead(keys.map, '/inspect/live-map', { scope }, { keepsLast: true, refetchInterval: REFRESH_MS });
}
type LiveMapView = NonNullable<ReturnType<typeof useLiveMap>['data']>;

/** The ways of requests of the last hour, as a picture or a table. A dot is a request that passes now. */
export function LiveMap() {
  const headingId = useId();
  const [view, setView] = useState('map');
  const query = useLiveMap();
  const isLost = useValue(live.connection) === 'lost';
  const map = query.data;
  const missing = useMissingOf();
  const withheld = missing('apiendpoint.view') && missing('container.view') && missing('lambda.view');
  const failing = map?.nodes.filter(({ isFailing }) => isFailing).length ?? 0;
  return (
    <section aria-labelledby={headingId} className="min-w-0">
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 id={headingId}>Live map</h2>
        {map && withheld === undefined && (
          <p className="text-muted">
            {isLost ? 'Not live: this is the last known state' : <RequestCount map={map} />}
            {failing > 0 && !isLost && <span className="text-error">, {counted(failing, 'node')} failing</span>}
          </p>
        )}
        <span className="ml-auto">
          <Segments label="Show as" segments={VIEWS} value={view} onChange={setView} />
        </span>
      </div>
      {withheld !== undefined ? (
        <p className="text-muted">{withheld}</p>
      ) : !map ? (
        <Pending query={query} label="Loading the live map" rows={5} />
      ) : (
        <div className={isLost ? 'opacity-60' : ''}>
          {view === 'map' && <MapPicture map={map} isLive={!isLost} />}
          <MapTable map={map} isShown={view === 'table'} />
        </div>
      )}
    </section>
  );
}

function RequestCount({ map: { requests, countedFrom } }: { map: LiveMapView }) {
  return (
    <>
      {counted(requests, 'request')}{' '}
      {countedFrom ? (
        <>
          since <Time at={countedFrom} as="clock" />
        </>
      ) : (
        'in the last hour'
      )}
    </>
  );
}

function MapPicture({ map, isLive }: { map: LiveMapView; isLive: boolean }) {
  const frame = useRef<HTMLDivElement>(null);
  const dots = useRef<SVGGElement>(null);
  const availablePx = useWidth(frame);
  const layout = useMemo(() => layoutMap(map, availablePx), [map, availablePx]);
  const { width, height, nodeWidth, columns, paths } = layout;
  const failingIds = useMemo(() => new Set(map.nodes.flatMap(({ id, isFailing }) => (isFailing ? id : []))), [map]);
  const missing = useMissingOf();
  const curves = [...paths.values()].join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: where edges move, the dots on their former ways end
  useEffect(() => () => dots.current?.replaceChildren(), [curves]);
  const lastSeq = useRef<number>(undefined);
  useEffect(() => {
    const newest = map.passages.at(-1)?.seq ?? lastSeq.current ?? 0;
    const passed = map.passages.filter(({ seq }) => lastSeq.current !== undefined && seq > lastSeq.current);
    lastSeq.current = newest;
    if (dots.current && isLive && !document.hidden) showPassages(dots.current, passed, layout);
  }, [map, layout, isLive]);
  return (
    <div ref={frame} className="overflow-x-auto overflow-y-hidden">
      <div className="relative" style={{ width, height }}>
        <svg aria-hidden width={width} height={height} className="absolute inset-0">
          {map.edges.map((edge) => (
            <path
              key={edgeKey(edge)}
              d={paths.get(edgeKey(edge))}
              fill="none"
              {...strokeOf(edge, edge.failed > 0 && failingIds.has(edge.to))}
            />
          ))}
          <g
            ref={dots}
            fill="currentcolor"
            className="[&>*]:opacity-0 [&>path]:fill-none [&>path]:stroke-current [&>path]:stroke-3"
          />
        </svg>
        {columns.map(({ column, x, nodes }) => (
          <div key={column}>
            <h3 id={`map-${column}`} className="eyebrow absolute top-0" style={{ left: x, width: nodeWidth }}>
              {COLUMN_TITLES[column]}
            </h3>
            {nodes.length === 0 && (
              <p className="absolute text-small text-muted" style={{ left: x, top: HEAD_PX, width: nodeWidth }}>
                {missing(column === 'targets' ? 'lambda.view' : 'apiendpoint.view') ?? 'None yet'}
              </p>
            )}
            <ul aria-labelledby={`map-${column}`}>
              {nodes.map(({ node, y }) => (
                <li
                  key={node.id}
                  className={`card absolute flex items-center gap-2 px-2.5 hover:border-line-strong ${node.isFailing ? 'border-error! bg-error-soft!' : ''}`}
                  style={{ left: x, top: y, width: nodeWidth, height: NODE_HEIGHT_PX }}
                >
                  <MapNodeCard node={node} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </div>
  );
}

/** The more requests, the wider, up to a limit. An edge without a request is dashed. */
function strokeOf({ requests }: MapEdge, isFailing: boolean) {
  return {
    stroke: isFailing ? 'var(--error)' : 'var(--line-strong)',
    strokeWidth: Math.min(6, 1 + Math.log2(requests + 1) / 2),
    ...(requests === 0 && { strokeDasharray: '3 4' }),
  };
}

/** The nodes and what leads to them, in words. Screen readers also find it next to the picture. */
function MapTable({ map: { nodes, edges }, isShown }: { map: LiveMapView; isShown: boolean }) {
  const sorted = MAP_COLUMNS.flatMap((column) => nodes.filter((node) => node.column === column));
  const nameOf = new Map(nodes.map(({ id, name }) => [id, name]));
  const sourcesOf = (id: string) =>
    edges.flatMap(({ from, to, requests }) =>
      to === id ? `${nameOf.get(from)} (${requests.toLocaleString('en')})` : [],
    );
  return (
    <div className={isShown ? 'card overflow-x-auto' : 'sr-only'}>
      <table aria-label="Requests of the last hour" className="w-full">
        <TableHead
          heads={[
            ...['Column', 'Name', 'Called by'],
            ...['Requests', 'Failed'].map((text) => ({ text, className: 'text-right' })),
          ]}
        />
        <tbody>
          {sorted.map((node) => (
            <tr key={node.id} className="h-[30px] border-t border-line/55">
              <td className="px-2 whitespace-nowrap text-muted">{COLUMN_TITLES[node.column]}</td>
              <td className="px-2 break-words">{node.name}</td>
              <td className="px-2 text-muted">{sourcesOf(node.id).join(', ') || '-'}</td>
              <td className="px-2 text-right">{node.requests.toLocaleString('en')}</td>
              <td className="px-2 text-right">
                {isShown && node.failed > 0 ? <FailureLink node={node} /> : node.failed}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Time of a dot from one column to the next. */
const STEP_MS = 650;
const HIGHLIGHT_MS = 1_500;
/** The most dots that can be distinguished at the same time. */
const MAX_DOTS = 60;
const SVG = 'http://www.w3.org/2000/svg';

/**
 * Shows passages as dots that move along their edges, by animations of the browser, so that no script runs meanwhile. A dot begins when the dot of the
 * column before has arrived. With reduced motion, the edge is highlighted instead.
 */
function showPassages(
  layer: SVGGElement,
  passages: readonly PassageView[],
  { paths, columns }: Pick<MapLayout, 'paths' | 'columns'>,
): void {
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const columnOf = new Map(columns.flatMap(({ nodes }, index) => nodes.map(({ node }) => [node.id, index] as const)));
  for (const passage of passages) {
    const path = paths.get(edgeKey(passage));
    if (path === undefined || layer.childElementCount >= MAX_DOTS) continue;
    const shape = document.createElementNS(SVG, isStill ? 'path' : 'circle');
    shape.setAttribute('class', passage.isFailed ? 'text-error' : 'text-ok');
    if (isStill) shape.setAttribute('d', path);
    else {
      shape.setAttribute('r', passage.isFailed ? '4.5' : '4');
      shape.style.offsetPath = `path("${path}")`;
    }
    layer.append(shape);
    const frames = isStill ? { opacity: [1, 1] } : { opacity: [1, 1], offsetDistance: ['0%', '100%'] };
    const delay = isStill ? 0 : STEP_MS * (columnOf.get(passage.from) ?? 0);
    const animation = shape.animate(frames, { duration: isStill ? HIGHLIGHT_MS : STEP_MS, delay });
    animation.onfinish = () => shape.remove();
    animation.oncancel = animation.onfinish;
  }
}
