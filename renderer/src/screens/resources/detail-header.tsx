import {
  ArrowRightLeft,
  CloudDownload,
  CloudUpload,
  Copy as CopyIcon,
  MoveUpRight,
  RefreshCw,
  Scaling,
  Trash2,
  UserCheck,
  UserX,
} from 'lucide-react';
import { useState } from 'react';
import { kindOf, kindsBelow, nounOf } from '../../api/resource-kinds.ts';
import type { TreePlace } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Time } from '../../components/amount.tsx';
import { Button } from '../../components/button.tsx';
import { Copy, copyText } from '../../components/copy.tsx';
import { Menu, type MenuEntry } from '../../components/menu.tsx';
import { Badge, type Condition } from '../../components/state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { conditionOf } from '../containers/container-status.ts';
import { ActionDialog, type ActionName } from './action-dialog.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { NewMenu } from './new-menu.tsx';
import { PublishDialog, publishPlaceOf } from './publish-dialog.tsx';

export interface DetailHeaderProps {
  location: TreePlace;
  record: PlatformRecord;
  onDeleting(): void;
}

/** The conditions that say more than that all is well. */
const SHOWN_CONDITIONS: readonly Condition[] = ['running', 'warning', 'error'];

const WORKBENCH: Partial<Record<string, 'lambdas' | 'containers'>> = { lambdas: 'lambdas', containers: 'containers' };

export function DetailHeader({ location, record, onDeleting }: DetailHeaderProps) {
  const [open, setOpen] = useState<ActionName | 'delete' | 'push' | 'pull'>();
  const publishing = publishPlaceOf(location, record);
  const kind = kindOf(record);
  const Icon = kind.icon;
  const noun = nounOf(kind.collection);
  const workbench = WORKBENCH[kind.collection];
  const { status, public_url: publicUrl } = record.properties;
  const condition = conditionOf(record);
  const { isDisabled } = location.resource;
  const entry = (id: ActionName | 'push' | 'pull', text: string, icon: MenuEntry['icon']): MenuEntry => ({
    id,
    text,
    ...(icon && { icon }),
    onAction: () => setOpen(id),
  });
  const isWorkload = kind.collection === 'containers' || kind.collection === 'lambdas';
  const entries: MenuEntry[] = [
    ...(kind.collection === 'containers' ? [entry('scale', 'Scale…', Scaling)] : []),
    ...(isWorkload ? [entry('migrate', 'Migrate to another provider…', ArrowRightLeft)] : []),
    ...(isWorkload ? [entry('promote', 'Promote to another environment…', MoveUpRight)] : []),
    ...(publishing
      ? [
          entry('push', 'Push to a real platform…', CloudUpload),
          entry('pull', 'Pull from a real platform…', CloudDownload),
        ]
      : []),
    ...(kind.collection === 'users' && !isDisabled ? [entry('disable', 'Disable the account…', UserX)] : []),
    ...(isDisabled ? [entry('enable', 'Enable the account…', UserCheck)] : []),
    ...(kind.collection === 'providers' ? [entry('redeploy', 'Redeploy…', RefreshCw)] : []),
    ...(location.path.length === 0 ? [entry('initialize', 'Initialize the default providers…', RefreshCw)] : []),
    {
      id: 'copy',
      text: 'Copy the record as JSON',
      icon: CopyIcon,
      onAction: () => void copyText(JSON.stringify(record, null, 2), 'the record'),
    },
    ...(location.path.length > 0
      ? [
          {
            id: 'delete',
            text: 'Delete…',
            icon: Trash2,
            isDanger: true,
            startsGroup: true,
            needs: `${noun}.delete` as const,
            onAction: () => setOpen('delete'),
          },
        ]
      : []),
  ];
  return (
    <div className="border-b border-line px-4 py-2.5">
      {location.path.length > 0 && (
        <nav aria-label="What it is in" className="flex min-w-0 flex-wrap gap-x-1 text-small text-faint">
          {location.path.map(({ id, name }) => (
            <span key={id} className="flex min-w-0 gap-1">
              <PlaceLink
                to={{ screen: 'resources', id }}
                className="inline-block min-h-6 max-w-48 truncate leading-6 hover:text-text hover:underline"
              >
                {name}
              </PlaceLink>
              <span aria-hidden className="leading-6">
                /
              </span>
            </span>
          ))}
        </nav>
      )}
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="flex max-w-full items-center gap-2">
          <Icon aria-hidden size={16} strokeWidth={1.8} className="shrink-0 text-accent" />
          <h2 className="truncate text-title" title={record.name}>
            {record.name}
          </h2>
        </span>
        <Badge>{kind.title}</Badge>
        {typeof status === 'string' && (
          <Badge tone={SHOWN_CONDITIONS.find((shownCondition) => shownCondition === condition) ?? 'plain'}>
            {status}
          </Badge>
        )}
        {isDisabled && <Badge tone="warning">disabled</Badge>}
        {!record.resource_state.endsWith('::Active') && (
          <Badge tone="warning">{record.resource_state.replace(/^.*::/, '')}</Badge>
        )}
        <span className="ml-auto flex shrink-0 items-center gap-2">
          {workbench && (
            <PlaceLink
              to={{ screen: workbench, id: record.id }}
              className="flex h-7 items-center rounded-md border border-line-strong px-2.5 hover:bg-raised"
            >
              Open {workbench === 'lambdas' ? 'workbench' : 'container'}
            </PlaceLink>
          )}
          {kindsBelow(kind.collection).length > 0 && <NewMenu location={location} />}
          {location.path.length > 0 && (
            <Button icon={Trash2} look="danger" needs={`${noun}.delete`} onPress={() => setOpen('delete')}>
              Delete
            </Button>
          )}
          <Menu label={`Actions on ${record.name}`} entries={entries} />
        </span>
      </div>
      <div className="flex flex-wrap items-center gap-x-2.5 text-muted">
        <span className="mono flex items-center">
          {record.id}
          <Copy text={record.id} subject="id" />
        </span>
        {record.created && (
          <span>
            created <Time at={record.created.timestamp} />
          </span>
        )}
        {record.modified && record.modified.timestamp !== record.created?.timestamp && (
          <span>
            changed <Time at={record.modified.timestamp} />
          </span>
        )}
        {typeof publicUrl === 'string' && (
          <span className="mono flex min-w-0 items-center">
            <span className="truncate">{publicUrl}</span>
            <Copy text={publicUrl} subject="public address" />
          </span>
        )}
      </div>
      {record.description && <p className="break-words text-muted">{record.description}</p>}
      {open === 'delete' && <DeleteDialog record={record} onClose={() => setOpen(undefined)} onDeleting={onDeleting} />}
      {publishing && (open === 'push' || open === 'pull') && (
        <PublishDialog direction={open} localItem={publishing} onClose={() => setOpen(undefined)} />
      )}
      {open !== undefined && open !== 'delete' && open !== 'push' && open !== 'pull' && (
        <ActionDialog action={open} location={location} record={record} onClose={() => setOpen(undefined)} />
      )}
    </div>
  );
}
