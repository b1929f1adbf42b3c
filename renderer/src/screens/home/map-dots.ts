import type { PassageView } from '../../../../server/api/routes/live-map.ts';
import { edgeKey, type MapLayout } from './map-layout.ts';

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
export function showPassages(
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
