import { durationText } from '../../parts/amounts.ts';

export interface Span {
  name: string;
  /** After the name, e.g. a host. */
  note?: string;
  startMs: number;
  endMs: number;
  tone: 'gateway' | 'queue' | 'handler' | 'outbound' | 'error';
  depth?: number;
}

const COLOURS: Record<Span['tone'], string> = {
  gateway: 'var(--span-gateway)',
  queue: 'var(--span-queue)',
  handler: 'var(--span-handler)',
  outbound: 'var(--span-outbound)',
  error: 'var(--error)',
};

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
        {spans.map(({ name, note, startMs, endMs, tone, depth = 0 }, index) => {
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
                </svg>
              </td>
              <td className="mono text-right text-muted">{durationText(endMs - startMs)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
