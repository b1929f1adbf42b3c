import { useState } from 'react';
import { useChange } from '../../api/change.ts';
import type { TreePlace } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { AddressField } from './address-field.tsx';
import { makePublic, pathFor } from './public-address.ts';

export interface AddressDialogProps {
  lambda: PlatformRecord;
  place: TreePlace;
  onClose(): void;
}

/** Gives a lambda one more public address. */
export function AddressDialog({ lambda, place, onClose }: AddressDialogProps) {
  const [path, setPath] = useState(pathFor(lambda.name));
  const making = useChange(() => makePublic({ lambda, place, path }), { onShown: onClose });
  return (
    <Dialog
      title={`A public address for ${lambda.name}`}
      onClose={onClose}
      deed="Make it public"
      onDeed={making.mutate}
      isReady={path.startsWith('/')}
      making={making}
    >
      <div className="flex flex-col gap-3">
        <AddressField place={place} path={path} onChange={setPath} />
        <p className="text-muted">Anybody may call it, by any method; its endpoint, in Resources, can say otherwise.</p>
      </div>
    </Dialog>
  );
}
