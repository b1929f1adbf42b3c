import { useState } from 'react';
import type { PlatformRecord } from '../../api/world.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { NumberField } from '../../parts/fields.tsx';
import { isJob, wishedOf } from './container-status.ts';

export interface ScaleDialogProps {
  record: PlatformRecord;
  onScale(instances: number): void;
  onClose(): void;
}

/** How many instances a container shall have. */
export function ScaleDialog({ record, onScale, onClose }: ScaleDialogProps) {
  const [instances, setInstances] = useState(wishedOf(record));
  const scale = () => {
    onScale(instances);
    onClose();
  };
  return (
    <Dialog
      title={`Scale ${record.name}`}
      onClose={onClose}
      deed={instances === 0 ? 'Stop it' : `Run ${instances || ''}`}
      onDeed={scale}
      isReady={!Number.isNaN(instances)}
    >
      <NumberField
        label="Instances"
        description={
          isJob(record)
            ? 'So many instances run once each.'
            : 'The difference is started or stopped; instances that stay are not touched. 0 stops it.'
        }
        minValue={0}
        value={instances}
        onChange={setInstances}
        autoFocus
      />
    </Dialog>
  );
}
