import { useQuery } from '@tanstack/react-query';
import { usePlatformStatus } from '../../api/platform-status.ts';
import { keys } from '../../api/query-client.ts';
import type { TreePlace } from '../../api/tree.ts';
import { TextField } from '../../parts/fields.tsx';
import { firstApiName, loadApis } from './public-address.ts';

export interface AddressFieldProps {
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
