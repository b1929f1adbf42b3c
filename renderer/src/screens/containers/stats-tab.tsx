import type { PlatformRecord } from '../../api/use-world.ts';
import { bytesText } from '../../components/amounts.ts';
import { ChartFrame } from '../../components/chart-frame.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { limitsOf, runningOf } from './container-status.ts';
import { type UsageLines, usageLines } from './usage-lines.ts';
import { shortId } from './use-instances.ts';
import { useUsage } from './use-usage.ts';

/** Resource usage of each running instance, now and in the last minutes in which the tab was open. */
export function StatsTab({ record }: { record: PlatformRecord }) {
  const isRunning = runningOf(record) > 0;
  const samples = useUsage(record.id, isRunning);
  if (!isRunning) return <p className="px-4 py-3 text-muted">No instance is running.</p>;
  const lines = usageLines(samples);
  if (lines.length === 0) return <Skeleton label="Measuring" rows={3} />;
  const { cpus } = limitsOf(record);
  return (
    <div className="flex flex-col gap-4 p-4">
      {lines.map((line) => (
        <section key={line.instanceId} aria-label={`Instance ${shortId(line.instanceId)}`}>
          <h3 className="eyebrow mb-1.5">
            Instance <span className="mono">{shortId(line.instanceId)}</span>
          </h3>
          <Charts line={line} cpus={cpus} />
        </section>
      ))}
      <p className="text-small text-faint">Measured every few seconds while this page is visible.</p>
    </div>
  );
}

function Charts({ line, cpus }: { line: UsageLines; cpus: number }) {
  const { cpuPercent, memoryBytes, memoryLimitBytes, receivedPerS, sentPerS } = line;
  const memory = memoryBytes.at(-1) ?? 0;
  const share = memoryLimitBytes > 0 ? memory / memoryLimitBytes : 0;
  return (
    <div className="grid grid-cols-2 gap-3">
      <Chart
        title="CPU"
        now={`${cpuPercent.at(-1) ?? 0} %`}
        limit={`of ${Math.round(cpus * 100)} %`}
        values={cpuPercent}
      />
      <Chart
        title="Memory"
        now={bytesText(memory)}
        limit={`of ${bytesText(memoryLimitBytes)}, ${Math.round(share * 100)} %`}
        values={memoryBytes}
        isHigh={share >= 0.9}
      />
      <Chart title="Received" now={`${bytesText(receivedPerS.at(-1) ?? 0)}/s`} values={receivedPerS} />
      <Chart title="Sent" now={`${bytesText(sentPerS.at(-1) ?? 0)}/s`} values={sentPerS} />
    </div>
  );
}

/** The units of a chart; they are stretched to the available width. */
const [WIDTH, HEIGHT] = [120, 40];

interface ChartProps {
  title: string;
  now: string;
  limit?: string;
  values: readonly number[];
  isHigh?: boolean;
}

/** A measurement as a line over time, oldest first; its label states the newest value and the peak. */
function Chart({ title, now, limit, values, isHigh = false }: ChartProps) {
  const peak = Math.max(0, ...values);
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values
    .map((value, index) => [index * step, HEIGHT - 2 - (value / Math.max(1, peak)) * (HEIGHT - 5)])
    .map((point) => point.map((units) => units.toFixed(1)).join(','))
    .join(' ');
  const colour = isHigh ? 'var(--error)' : 'var(--accent)';
  return (
    <div className="card px-3 pt-2 pb-1.5">
      <p className="flex items-baseline gap-1.5">
        <span className="text-muted">{title}</span>
        <span className={`ml-auto font-medium ${isHigh ? 'text-error' : ''}`}>{now}</span>
        {limit && <span className="text-small text-faint">{limit}</span>}
      </p>
      <ChartFrame
        label={`${title}: ${values.length === 0 ? 'nothing yet' : `now ${values.at(-1)}, most ${peak}`}`}
        width={WIDTH}
        height={HEIGHT}
        ground={1.5}
      >
        {values.length > 1 && (
          <>
            <polygon points={`0,${HEIGHT - 2} ${points} ${WIDTH},${HEIGHT - 2}`} fill={colour} opacity={0.12} />
            <polyline
              points={points}
              fill="none"
              stroke={colour}
              strokeWidth={1.5}
              strokeLinejoin="round"
              vectorEffect="non-scaling-stroke"
            />
          </>
        )}
      </ChartFrame>
    </div>
  );
}
