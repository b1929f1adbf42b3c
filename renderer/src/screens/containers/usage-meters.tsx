import type { PlatformRecord } from '../../api/world.ts';
import { bytesText } from '../../components/amounts.ts';
import { Meter } from '../../components/meter.tsx';
import { limitsOf, runningOf } from './container-status.ts';
import { useUsage } from './use-usage.ts';

const METER_PX = 44;

/** Processor usage of all instances of a container, relative to its limit. */
export function CpuMeter({ record }: { record: PlatformRecord }) {
  const used = useNow(record);
  if (!used) return <NotMeasured record={record} />;
  const may = limitsOf(record).cpus * used.length;
  const cpus = used.reduce((sum, usage) => sum + usage.cpus, 0);
  // A sample can be slightly above the limit.
  const text = `${Math.round(cpus * 100)} %`;
  return <Meter label={`CPU of ${record.name}`} value={Math.min(cpus, may)} max={may} text={text} width={METER_PX} />;
}

/** Memory usage of all instances of a container, relative to its limit. */
export function MemoryMeter({ record }: { record: PlatformRecord }) {
  const used = useNow(record);
  if (!used) return <NotMeasured record={record} />;
  const bytes = used.reduce((sum, usage) => sum + usage.memoryBytes, 0);
  const may = used.reduce((sum, usage) => sum + usage.memoryLimitBytes, 0);
  return <Meter label={`Memory of ${record.name}`} value={bytes} max={may} text={bytesText(bytes)} width={METER_PX} />;
}

function useNow(record: PlatformRecord) {
  const isRunning = runningOf(record) > 0;
  const now = useUsage(record.id, isRunning).at(-1);
  return isRunning && now && now.instances.length > 0 ? now.instances : undefined;
}

function NotMeasured({ record }: { record: PlatformRecord }) {
  return <span className="text-faint">{runningOf(record) > 0 ? '...' : '-'}</span>;
}
