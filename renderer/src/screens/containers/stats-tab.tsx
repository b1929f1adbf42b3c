import type { PlatformRecord } from '../../api/world.ts';
import { bytesText } from '../../components/amounts.ts';
import { Skeleton } from '../../components/skeleton.tsx';
import { Sparkline } from '../../components/sparkline.tsx';
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

interface ChartProps {
  title: string;
  now: string;
  limit?: string;
  values: readonly number[];
  isHigh?: boolean;
}

function Chart({ title, now, limit, values, isHigh = false }: ChartProps) {
  return (
    <div className="card px-3 pt-2 pb-1.5">
      <p className="flex items-baseline gap-1.5">
        <span className="text-muted">{title}</span>
        <span className={`ml-auto font-medium ${isHigh ? 'text-error' : ''}`}>{now}</span>
        {limit && <span className="text-small text-faint">{limit}</span>}
      </p>
      <Sparkline label={title} values={values} height={40} tone={isHigh ? 'error' : 'accent'} />
    </div>
  );
}
