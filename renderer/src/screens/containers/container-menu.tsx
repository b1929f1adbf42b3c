import { Play, RotateCw, Scaling, Square, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { PlatformRecord } from '../../api/world.ts';
import { Menu, type MenuEntry } from '../../parts/menu.tsx';
import { restartWord, wishedOf } from './container-status.ts';
import { DeleteContainerDialog } from './delete-container-dialog.tsx';
import { ScaleDialog } from './scale-dialog.tsx';
import { useContainerDeeds } from './use-container-deeds.ts';

/** What can be done to a container or job, behind three dots. */
export function ContainerMenu({ record }: { record: PlatformRecord }) {
  const deeds = useContainerDeeds(record);
  const [open, setOpen] = useState<'scale' | 'delete'>();
  const isStopped = wishedOf(record) === 0;
  const entries: MenuEntry[] = [
    isStopped
      ? { id: 'start', text: 'Start', icon: Play, onAction: deeds.start }
      : { id: 'stop', text: 'Stop', icon: Square, onAction: deeds.stop },
    {
      id: 'restart',
      text: restartWord(record),
      icon: RotateCw,
      isDisabled: isStopped,
      onAction: deeds.restart,
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
      {open === 'scale' && <ScaleDialog record={record} onScale={deeds.scaleTo} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && <DeleteContainerDialog record={record} onClose={() => setOpen(undefined)} />}
    </>
  );
}
