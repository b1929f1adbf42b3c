import { ChartFrame } from './chart-frame.tsx';
export interface SparklineProps {
  /** The label of the line with its unit, e.g. `requests a minute, last half hour`. */
  label: string;
  /** The oldest first. */
  values: readonly number[];
  height?: number;
  tone?: 'accent' | 'error';
}

const COLOURS = { accent: 'var(--accent)', error: 'var(--error)' };

/** Units across; they are stretched to the width that there is. */
const width = 120;

/** A small line of how something went; its ends and peak are said in its label. */
export function Sparkline({ label, values, height = 28, tone = 'accent' }: SparklineProps) {
  const peak = Math.max(1, ...values);
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const points = values.map(
    (value, index) => `${(index * step).toFixed(1)},${(height - 2 - (value / peak) * (height - 5)).toFixed(1)}`,
  );
  const colour = COLOURS[tone];
  const summary = values.length === 0 ? 'nothing yet' : `now ${values.at(-1)}, most ${Math.max(...values)}`;
  return (
    <ChartFrame label={`${label}: ${summary}`} width={width} height={height} ground={1.5}>
      {points.length > 1 && (
        <>
          <polygon points={`0,${height - 2} ${points.join(' ')} ${width},${height - 2}`} fill={colour} opacity={0.12} />
          <polyline
            points={points.join(' ')}
            fill="none"
            stroke={colour}
            strokeWidth={1.5}
            strokeLinejoin="round"
            vectorEffect="non-scaling-stroke"
          />
        </>
      )}
    </ChartFrame>
  );
}
