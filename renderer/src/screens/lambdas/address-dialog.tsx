import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { keys } from '../../api/query-client.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import type { TreePlace } from '../../api/tree.ts';
import { useChange } from '../../api/use-change.ts';
import { usePlatformStatus } from '../../api/use-platform-status.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/fields.tsx';
import { guarded, patchBetween } from '../resources/resource-patch.ts';
import { EndpointFields, OPEN_ENDPOINT, optionsOf, withOptions } from './endpoint-options.tsx';
import { firstApiName, loadApis, makePublic, pathFor } from './public-address.ts';

export interface AddressDialogProps {
  lambda: PlatformRecord;
  location: TreePlace;
  onClose(): void;
}

export function AddressDialog({ lambda, location, onClose }: AddressDialogProps) {
  const [path, setPath] = useState(pathFor(lambda.name));
  const [options, setOptions] = useState(OPEN_ENDPOINT);
  const answering = withOptions({}, options);
  const making = useChange((_, send) => makePublic({ lambda, location, path, answering, send }), {
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
        <EndpointFields options={options} onChange={setOptions} />
        <p className="text-muted">Accepts any method. To accept only some, edit the endpoint in Resources.</p>
      </div>
    </Dialog>
  );
}

export function EndpointDialog({ endpoint, onClose }: { endpoint: PlatformRecord; onClose(): void }) {
  const [{ name, properties }] = useState(endpoint);
  const [options, setOptions] = useState(optionsOf(properties));
  const before = { name, properties };
  const patch = patchBetween(before, { name, properties: withOptions(properties, options) });
  const change = useChange((_, send) => send('PATCH', `/meta${recordPath(endpoint)}`, guarded(before, patch)), {
    message: `${name} was changed.`,
    onShown: onClose,
  });
  return (
    <Dialog
      title={`Change endpoint ${name}`}
      onClose={onClose}
      action="Save endpoint"
      onAction={change.mutate}
      isReady={patch.length > 0}
      making={change}
    >
      <div className="flex flex-col gap-3">
        <EndpointFields options={options} onChange={setOptions} />
      </div>
    </Dialog>
  );
}

interface AddressFieldProps {
  location: TreePlace;
  path: string;
  onChange(path: string): void;
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
          Published under {gatewayUrl}/{name}
          {apis?.length === 0 && <>, a new API</>}
        </>
      }
      error={path === '' || path.startsWith('/') ? undefined : 'begins with /'}
    />
  );
}
