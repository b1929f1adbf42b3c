import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../../api/change.ts';
import { usePlatformStatus } from '../../api/platform-status.ts';
import { keys } from '../../api/query-client.ts';
import type { TreePlace } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/fields.tsx';
import { firstApiName, loadApis, makePublic, pathFor } from './public-address.ts';

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
      action="Make it public"
      onAction={making.mutate}
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

interface AddressFieldProps {
  place: TreePlace;
  path: string;
  onChange(path: string): void;
  /** May the lambda do without? */
  isOptional?: boolean;
}

/** The path of a public address, with what it stands behind. */
export function AddressField({ place, path, onChange, isOptional = false }: AddressFieldProps) {
  const gatewayUrl = usePlatformStatus().data?.addresses.gatewayUrl ?? '';
  const apis = useQuery({
    queryKey: [keys.world, 'apis', place.resource.id],
    queryFn: () => loadApis(place),
  }).data;
  const name = apis?.[0]?.name ?? firstApiName(place);
  return (
    <TextField
      label="Public path"
      isMono
      value={path}
      onChange={onChange}
      placeholder={isOptional ? 'none: nobody can call it from outside' : '/path'}
      description={
        <>
          Behind {gatewayUrl}/{name}
          {apis?.length === 0 && <>, an API that is made with it</>}
        </>
      }
      error={path === '' || path.startsWith('/') ? undefined : 'begins with /'}
    />
  );
}
