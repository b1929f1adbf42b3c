import { ExternalLink } from 'lucide-react';
import type { ImagePull } from '../../../../server/api/routes/containers.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Time } from '../../components/amount.tsx';
import { bytesText } from '../../components/amounts.ts';
import type { GridColumn } from '../../components/data-grid.tsx';
import { Meter, Progress } from '../../components/meter.tsx';
import { Badge, State } from '../../components/state.tsx';
import type { ContainerAddress } from './container-address.ts';
import { ContainerMenu } from './container-menu.tsx';
import { referenceName } from './container-place.ts';
import {
  conditionOf,
  isJob,
  limitsOf,
  reasonOf,
  requestedInstances,
  runningOf,
  statusOf,
  statusWord,
} from './container-status.ts';
import type { ContainerRow } from './use-containers.ts';
import { useUsage } from './use-usage.ts';

/** One row for each container or job. Buttons are above the link of the row. */
export const CONTAINER_COLUMNS: readonly GridColumn<ContainerRow>[] = [
  {
    id: 'status',
    sortBy: ({ record }) => statusOf(record),
    header: 'Status',
    width: 128,
    cell: ({ record, pull }) =>
      pull ? <PullBar pull={pull} name={record.name} /> : <ContainerState record={record} />,
  },
  {
    id: 'name',
    header: 'Name',
    width: { share: 3, minWidth: 110 },
    sortBy: ({ record }) => record.name.toLowerCase(),
    cell: ({ record }) => <Name record={record} />,
  },
  {
    id: 'address',
    header: 'Address',
    width: { share: 2, minWidth: 130 },
    hideOrder: 2,
    cell: ({ addresses }) => (
      <span className="flex min-w-0 items-center gap-2">
        {addresses.slice(0, 2).map((address) => (
          <AddressLink key={address.href} address={address} />
        ))}
      </span>
    ),
  },
  {
    id: 'image',
    sortBy: ({ record }) => String(record.properties.image ?? ''),
    hideOrder: 6,
    header: 'Image',
    width: { share: 3, minWidth: 120 },
    isMono: true,
    cell: ({ record }) => <span title={String(record.properties.image)}>{String(record.properties.image ?? '')}</span>,
  },
  {
    id: 'environment',
    hideOrder: 5,
    header: 'Environment',
    width: { share: 2, minWidth: 110 },
    isMuted: true,
    text: ({ record }) => referenceName(record.properties.parent),
  },
  {
    id: 'instances',
    hideOrder: 4,
    header: 'Instances',
    width: 80,
    align: 'end',
    text: ({ record }) => `${runningOf(record)}/${requestedInstances(record)}`,
    sortBy: ({ record }) => runningOf(record),
  },
  { id: 'cpu', hideOrder: 3, header: 'CPU', width: 104, cell: ({ record }) => <CpuMeter record={record} /> },
  { id: 'memory', hideOrder: 1, header: 'Memory', width: 116, cell: ({ record }) => <MemoryMeter record={record} /> },
  {
    id: 'age',
    sortBy: ({ record }) => record.created?.timestamp,
    hideOrder: 7,
    header: 'Created',
    width: 84,
    align: 'end',
    isMuted: true,
    cell: ({ record }) => record.created && <Time at={record.created.timestamp} />,
  },
  {
    id: 'actions',
    header: <span className="sr-only">Actions</span>,
    width: 44,
    align: 'end',
    cell: ({ record }) => (
      <span className="relative z-1 inline-block">
        <ContainerMenu record={record} />
      </span>
    ),
  },
];

function Name({ record }: Pick<ContainerRow, 'record'>) {
  return (
    <span className="flex min-w-16 items-center gap-2" title={record.name}>
      <span className="truncate font-medium">{record.name}</span>
      {isJob(record) && <Badge>job</Badge>}
    </span>
  );
}

export function ContainerState({ record }: { record: ContainerRow['record'] }) {
  return (
    <span title={reasonOf(record)}>
      <State is={conditionOf(record)}>{statusWord(statusOf(record))}</State>
    </span>
  );
}

export function PullBar({ pull, name }: { pull: ImagePull; name: string }) {
  const { currentBytes, totalBytes } = pull;
  const share = totalBytes > 0 ? currentBytes / totalBytes : undefined;
  return (
    <span className="flex items-center gap-2" title={`${pull.step} ${pull.image}`}>
      <span className="text-running">pulling</span>
      <span className="min-w-8 flex-1">
        <Progress label={`Pull for ${name}`} share={share} />
      </span>
      {share !== undefined && <span className="text-small text-muted">{Math.round(share * 100)} %</span>}
    </span>
  );
}

/** Returns the progress of a pull in words. */
export function pullText({ step, currentBytes, totalBytes }: ImagePull): string {
  return totalBytes > 0 ? `${step}, ${bytesText(currentBytes)} of ${bytesText(totalBytes)}` : step;
}

/** A link that leads to the container itself, in another tab. */
export function AddressLink({ address: { href, text, kind, name } }: { address: ContainerAddress }) {
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      title={`${kind === 'endpoint' ? 'Endpoint' : 'Port'} ${name}: ${href}`}
      className="mono link relative z-1 inline-flex min-h-6 min-w-0 items-center gap-1"
    >
      <span className="truncate">{text}</span>
      <ExternalLink aria-hidden size={11} className="shrink-0" />
      <span className="sr-only">(opens in a new tab)</span>
    </a>
  );
}

const METER_PX = 44;

function CpuMeter({ record }: { record: PlatformRecord }) {
  const used = useNow(record);
  if (!used) return <NotMeasured record={record} />;
  const may = limitsOf(record).cpus * used.length;
  const cpus = used.reduce((sum, usage) => sum + usage.cpus, 0);
  // A sample can be slightly above the limit.
  const text = `${Math.round(cpus * 100)} %`;
  return <Meter label={`CPU of ${record.name}`} value={Math.min(cpus, may)} max={may} text={text} width={METER_PX} />;
}

function MemoryMeter({ record }: { record: PlatformRecord }) {
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
