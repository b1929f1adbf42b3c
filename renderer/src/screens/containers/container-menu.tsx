import { Play, RotateCw, Scaling, Square, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Dialog } from '../../components/dialog.tsx';
import { NumberField } from '../../components/fields.tsx';
import { Menu, type MenuEntry } from '../../components/menu.tsx';
import { isJob, requestedInstances, restartWord } from './container-status.ts';
import { DeleteContainerDialog } from './delete-container-dialog.tsx';
import { useContainerActions } from './use-container-actions.ts';

export function ContainerMenu({ record }: { record: PlatformRecord }) {
  const actions = useContainerActions(record);
  const [open, setOpen] = useState<'scale' | 'delete'>();
  const isStopped = requestedInstances(record) === 0;
  const entries: MenuEntry[] = [
    isStopped
      ? { id: 'start', text: 'Start', icon: Play, onAction: actions.start }
      : { id: 'stop', text: 'Stop', icon: Square, onAction: actions.stop },
    {
      id: 'restart',
      text: restartWord(record),
      icon: RotateCw,
      isDisabled: isStopped,
      onAction: actions.restart,
    },
    { id: 'scale', text: 'Scale ...', icon: Scaling, onAction: () => setOpen('scale') },
    {
      id: 'delete',
      text: 'Delete ...',
      icon: Trash2,
      isDanger: true,
      startsGroup: true,
      onAction: () => setOpen('delete'),
    },
  ];
  return (
    <>
      <Menu label={`Actions of ${record.name}`} entries={entries} />
      {open === 'scale' && <ScaleDialog record={record} onScale={actions.scaleTo} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && <DeleteContainerDialog record={record} onClose={() => setOpen(undefined)} />}
    </>
  );
}

interface ScaleDialogProps {
  record: PlatformRecord;
  onScale(instances: number): void;
  onClose(): void;
}

/** Asks for a container's number of instances. */
function ScaleDialog({ record, onScale, onClose }: ScaleDialogProps) {
  const [instances, setInstances] = useState(requestedInstances(record));
  const scale = () => {
    onScale(instances);
    onClose();
  };
  return (
    <Dialog
      title={`Scale ${record.name}`}
      onClose={onClose}
      action={instances === 0 ? 'Stop it' : `Scale to ${instances || ''}`}
      onAction={scale}
      isReady={!Number.isNaN(instances)}
    >
      <NumberField
        label="Instances"
        description={
          isJob(record)
            ? 'Each instance runs once.'
            : 'Instances are started or stopped to reach this number. 0 stops the container.'
        }
        minValue={0}
        value={instances}
        onChange={setInstances}
        autoFocus
      />
    </Dialog>
  );
}
