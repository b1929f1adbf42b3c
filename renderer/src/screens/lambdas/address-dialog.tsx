import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../../api/change.ts';
import { usePlatformStatus } from '../../api/platform-status.ts';
import { keys } from '../../api/query-client.ts';
import type { TreePlace } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { firstApiName, loadApis, makePublic, pathFor } from './public-address.ts';

export interface AddressDialogProps {
  lambda: PlatformRecord;
  location: TreePlace;
  onClose(): void;
}

/** Gives a lambda one more public address. */
export function AddressDialog({ lambda, location, onClose }: AddressDialogProps) {
  const [path, setPath] = useState(pathFor(lambda.name));
  const making = useChange((_, send) => makePublic({ lambda, location: location, path, send }), {
    message: `${lambda.name} is public at ${path}.`,
    onShown: onClose,
  });
  return (
    <Dialog
      title={`Add endpoint for ${lambda.name}`}
      onClose={onClose}
      action="Make public"
      onAction={making.mutate}
      isReady={path.startsWith('/')}
      making={making}
    >
      <div className="flex flex-col gap-3">
        <AddressField location={location} path={path} onChange={setPath} />
        <p className="text-muted">
          Everyone can call it, with any method. To restrict access, edit its endpoint in Resources.
        </p>
      </div>
    </Dialog>
  );
}

interface AddressFieldProps {
  location: TreePlace;
  path: string;
  onChange(path: string): void;
  /** True if the lambda can do without a public address. */
  isOptional?: boolean;
}

/** The path of a public address, with what it is behind. */
export function AddressField({ location, path, onChange, isOptional = false }: AddressFieldProps) {
  const gatewayUrl = usePlatformStatus().data?.addresses.gatewayUrl ?? '';
  const apis = useQuery({
    queryKey: [keys.world, 'apis', location.resource.id],
    queryFn: () => loadApis(location),
  }).data;
  const name = apis?.[0]?.name ?? firstApiName(location);
  return (
    <TextField
      label="Public path"
      isMono
      value={path}
      onChange={onChange}
      placeholder={isOptional ? 'empty: no public endpoint' : '/path'}
      description={
        <>
          Behind {gatewayUrl}/{name}
          {apis?.length === 0 && <>, a new API</>}
        </>
      }
      error={path === '' || path.startsWith('/') ? undefined : 'begins with /'}
    />
  );
}
