import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { failureOf } from '../../api/failure.ts';
import { queryClient } from '../../api/query-client.ts';
import type { TreePlace } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
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
  const making = useMutation({
    mutationFn: () => makePublic({ lambda, place, path }),
    onSuccess: async () => {
      await queryClient.invalidateQueries();
      onClose();
    },
  });
  return (
    <Dialog
      title={`A public address for ${lambda.name}`}
      isOpen
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            look="primary"
            isPending={making.isPending}
            isDisabled={!path.startsWith('/')}
            onPress={() => making.mutate()}
          >
            Make it public
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <AddressField place={place} path={path} onChange={setPath} />
        <p className="text-muted">Anybody may call it, by any method; its endpoint, in Resources, can say otherwise.</p>
        {making.error && <FailureNote failure={failureOf(making.error)} />}
      </div>
    </Dialog>
  );
}
