import { createContext, type ReactNode, useContext } from 'react';
import { keys } from './query-client.ts';
import { useIdentity } from './use-identity.ts';
import { useRead } from './use-read.ts';

/** The requirement of a control: an action, an action of any type (`*.create`), viewing the entire platform, or being root. */
export type Need = 'root' | 'all' | `${string}.${string}`;

interface TargetResource {
  id: string;
  name: string;
}

const ResourceContext = createContext<TargetResource | undefined>(undefined);

/** Sets the resource on which its children need their permissions. If undefined, any resource counts. */
export function OnResource({ target, children }: { target: TargetResource | undefined; children: ReactNode }) {
  return <ResourceContext value={target}>{children}</ResourceContext>;
}

/** Returns the reason that the user cannot do or see something, as a sentence that says who can change it; undefined if they can. */
export function useMissing(need: Need | undefined): string | undefined {
  return useMissingOf(need !== undefined)(need);
}

/**
 * Returns a function that gives the reason for each of several needs.
 * @param isAsked false: nothing is read
 */
export function useMissingOf(isAsked = true): (need: Need | undefined) => string | undefined {
  const resource = useContext(ResourceContext);
  const { data: identity } = useIdentity();
  const isPlain = identity !== undefined && !(identity.user.isRoot && identity.viewAs === undefined);
  const enabled = isAsked && isPlain;
  const { data } = useRead(keys.world, '/inspect/permissions', resource ? { on: resource.id } : {}, {
    enabled,
    keepsLast: true,
  });
  return (need) => {
    if (need === undefined || !enabled) return undefined;
    const isChange = need !== 'all' && !need.endsWith('.view');
    if (identity.viewAs && isChange) return `You are viewing as ${identity.viewAs.name}, which is read-only.`;
    if (need === 'root') return 'Only root can do this.';
    // Until it is known, the server decides.
    if (!data) return undefined;
    if (need === 'all') return data.seesAll ? undefined : missingText('org.view', 'the root organization');
    const isPermitted = need.startsWith('*')
      ? data.actions.some((action) => action.endsWith(need.slice(1)))
      : data.actions.includes(need);
    return isPermitted ? undefined : missingText(need, resource?.name);
  };
}

/**
 * Returns true if the user may view the entire platform. Returns false until it is known, so that requests that would
 * be rejected are not sent.
 */
export function useSeesAll(): boolean {
  const { data: identity } = useIdentity();
  const isRoot = identity?.user.isRoot === true && identity.viewAs === undefined;
  const { data } = useRead(keys.world, '/inspect/permissions', {}, { enabled: identity !== undefined && !isRoot });
  return isRoot || data?.seesAll === true;
}

/** The missing permission, where it is missing, and who can grant it. */
export function missingText(action: string, resourceName: string | undefined): string {
  const on = resourceName === undefined ? '' : ` on ${resourceName}`;
  if (action.startsWith('*'))
    return `You need permission to ${action.slice(2)} resources${on}. Ask root or an owner to grant it.`;
  return `You need the ${action} permission${on}. Ask root or an owner to grant it.`;
}
