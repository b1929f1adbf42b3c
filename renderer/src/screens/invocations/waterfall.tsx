import { durationText } from '../../parts/amounts.ts';

export interface Span {
  name: string;
  /** After the name, e.g. a host. */
  note?: string;
  startMs: number;
  endMs: number;
  tone: 'gateway' | 'queue' | 'handler' | 'outbound' | 'error';
  depth?: number;
  /** What was said meanwhile: lines of the log. */
  marks?: readonly { atMs: number; text: string }[];
}

/** So many lines of a log are drawn. */
const MAX_MARKS = 200;

const COLOURS: Record<Span['tone'], string> = {
  gateway: 'var(--span-gateway)',
  queue: 'var(--span-queue)',
  handler: 'var(--span-handler)',
  outbound: 'var(--span-outbound)',
  error: 'var(--error)',
};

/** To a tenth of a millisecond, where it was measured so. */
function tenths(ms: number): string {
  return ms < 1000 ? `${Number(ms.toFixed(1))} ms` : durationText(ms);
}

/** When what happened: a table whose middle column is drawn. Times are epoch milliseconds. */
export function Waterfall({ spans }: { spans: readonly Span[] }) {
  const first = Math.min(...spans.map(({ startMs }) => startMs));
  const whole = Math.max(1, Math.max(...spans.map(({ endMs }) => endMs)) - first);
  return (
    <table className="w-full table-fixed">
      <caption className="sr-only">Where the time went</caption>
      <colgroup>
        <col className="w-[180px]" />
        <col />
        <col className="w-[68px]" />
      </colgroup>
      <thead>
        <tr className="text-[11px] text-faint">
          <th className="text-left font-normal">Part</th>
          <th className="font-normal">
            <span className="sr-only">Time line</span>
            <span aria-hidden className="flex justify-between">
              {[0, 0.25, 0.5, 0.75, 1].map((share) => (
                <span key={share}>{share === 0 ? '0' : durationText(whole * share)}</span>
              ))}
            </span>
          </th>
          <th className="text-right font-normal">Took</th>
        </tr>
      </thead>
      <tbody>
        {spans.map(({ name, note, startMs, endMs, tone, depth = 0, marks = [] }, index) => {
          const left = ((startMs - first) / whole) * 100;
          const width = Math.max(0.6, ((endMs - startMs) / whole) * 100);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the spans of a finished invocation do not change
            <tr key={index} className="h-[23px]">
              <th scope="row" className="truncate pr-2 text-left font-normal" style={{ paddingLeft: depth * 14 }}>
                <span className="font-medium">{name}</span> <span className="text-muted">{note}</span>
              </th>
              <td>
                <svg aria-hidden width="100%" height={10} className="block overflow-visible">
                  {[25, 50, 75].map((x) => (
                    <line key={x} x1={`${x}%`} x2={`${x}%`} y1={-7} y2={17} stroke="var(--line)" />
                  ))}
                  <rect
                    x={`${Math.min(left, 99.4)}%`}
                    width={`${Math.min(width, 100 - Math.min(left, 99.4))}%`}
                    height={10}
                    rx={3}
                    fill={COLOURS[tone]}
                  />
                  {marks.slice(0, MAX_MARKS).map(({ atMs, text }, at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a finished invocation do not change
                    <g key={at}>
                      <title>{`${tenths(atMs - first)}: ${text}`}</title>
                      <circle
                        cx={`${((atMs - first) / whole) * 100}%`}
                        cy={5}
                        r={2.5}
                        fill="var(--panel)"
                        stroke="var(--text)"
                      />
                    </g>
                  ))}
                </svg>
              </td>
              <td className="mono text-right text-muted">{tenths(endMs - startMs)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
