import { createContext, type ReactNode, useContext } from 'react';
import { useIdentity } from './identity.ts';
import { keys } from './query-client.ts';
import { useRead } from './read.ts';

/** What something requires: an action, an action of any type (`*.create`), to view the entire platform, or to be root. */
export type Need = 'root' | 'all' | `${string}.${string}`;

interface Place {
  id: string;
  name: string;
}

const PlaceContext = createContext<Place | undefined>(undefined);

/** What is inside needs its permissions on this resource. Without it, on any resource. */
export function OnResource({ of, children }: { of: Place | undefined; children: ReactNode }) {
  return <PlaceContext value={of}>{children}</PlaceContext>;
}

/** Why the user cannot do or see something, as a sentence that says who can change that; undefined if they can. */
export function useMissing(need: Need | undefined): string | undefined {
  return useMissingOf(need !== undefined)(need);
}

/** The same for several needs. @param isAsked false: nothing is read */
export function useMissingOf(isAsked = true): (need: Need | undefined) => string | undefined {
  const place = useContext(PlaceContext);
  const { data: who } = useIdentity();
  const isPlain = who !== undefined && !(who.user.isRoot && who.viewAs === undefined);
  const enabled = isAsked && isPlain;
  const { data } = useRead(keys.world, '/inspect/permissions', place ? { on: place.id } : {}, {
    enabled,
    keepsLast: true,
  });
  return (need) => {
    if (need === undefined || !enabled) return undefined;
    const isChange = need !== 'all' && !need.endsWith('.view');
    if (who.viewAs && isChange) return `You are viewing as ${who.viewAs.name}, which is read-only.`;
    if (need === 'root') return 'Only root can do this.';
    // Until it is known, the server decides.
    if (!data) return undefined;
    if (need === 'all') return data.seesAll ? undefined : missingText('org.view', 'the root organization');
    const isPermitted = need.startsWith('*')
      ? data.actions.some((action) => action.endsWith(need.slice(1)))
      : data.actions.includes(need);
    return isPermitted ? undefined : missingText(need, place?.name);
  };
}

/** May the user view the entire platform? False until it is known: for what would be refused otherwise. */
export function useSeesAll(): boolean {
  const { data: who } = useIdentity();
  const isRoot = who?.user.isRoot === true && who.viewAs === undefined;
  const { data } = useRead(keys.world, '/inspect/permissions', {}, { enabled: who !== undefined && !isRoot });
  return isRoot || data?.seesAll === true;
}

/** The missing permission, where it is missing, and who can grant it. */
export function missingText(action: string, place: string | undefined): string {
  const on = place === undefined ? '' : ` on ${place}`;
  if (action.startsWith('*'))
    return `You need permission to ${action.slice(2)} resources${on}. Ask root or an owner to grant it.`;
  return `You need the ${action} permission${on}. Ask root or an owner to grant it.`;
}
