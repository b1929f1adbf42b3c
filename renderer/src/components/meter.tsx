export interface MeterProps {
  label: string;
  value: number;
  max: number;
  /** Behind the bar; default `37/60`. */
  text?: string;
  width?: number;
}

/** A bar that shows how full something is, with the text beside it. It warns from 80 % and is red from 100 %. */
export function Meter({ label, value, max, text = `${value}/${max}`, width = 64 }: MeterProps) {
  const share = max > 0 ? Math.min(1, Math.max(0, value / max)) : 0;
  const colour = share >= 1 ? 'var(--error)' : share >= 0.8 ? 'var(--warn)' : 'var(--span-handler)';
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      {/* biome-ignore lint/a11y/useSemanticElements: a browser draws a meter its own way */}
      <span
        role="meter"
        aria-label={label}
        aria-valuenow={value}
        aria-valuemin={0}
        aria-valuemax={max}
        aria-valuetext={text}
      >
        <svg aria-hidden width={width} height={6} className="block">
          <rect width={width} height={6} rx={3} fill="var(--line)" />
          <rect width={Math.max(share > 0 ? 3 : 0, share * width)} height={6} rx={3} fill={colour} />
        </svg>
      </span>
      <span className="text-muted">{text}</span>
    </span>
  );
}

export interface ProgressProps {
  label: string;
  /** 0 to 1; undefined while unknown. */
  share: number | undefined;
}

/** A bar that shows the progress of a pull or a pipeline, or that an import is not done yet. It fills its width. */
export function Progress({ label, share }: ProgressProps) {
  const percent = share === undefined ? undefined : Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <span
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      className="block h-1.5 w-full overflow-hidden rounded-full bg-line"
    >
      <span
        className={`block h-full rounded-full bg-running transition-[width] ${percent === undefined ? 'pulse' : ''}`}
        style={{ width: `${percent ?? 100}%` }}
      />
    </span>
  );
}
