import type { ReactNode } from 'react';

export interface ChartFrameProps {
  label: string;
  /** Units across; they are stretched to the width that there is. */
  width: number;
  /** Pixels. */
  height: number;
  /** Pixels between the line at the ground and the edge below it. */
  ground: number;
  children: ReactNode;
}

/** Something drawn over time, on a line. */
export function ChartFrame({ label, width, height, ground, children }: ChartFrameProps) {
  const y = height - ground;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${width} ${height}`}
      width="100%"
      height={height}
      preserveAspectRatio="none"
      className="block"
    >
      <line x1={0} x2={width} y1={y} y2={y} stroke="var(--line)" vectorEffect="non-scaling-stroke" />
      {children}
    </svg>
  );
}
