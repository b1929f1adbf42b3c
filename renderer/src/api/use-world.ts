import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { memberOf } from '../../../server/model/json.ts';
import { useSearch } from '../url.ts';
import { load } from './client.ts';
import { keys } from './query-client.ts';

export interface Reference {
  id: string;
  typeId: string;
  name?: string;
  href?: string;
  properties?: { fqon?: string; [name: string]: unknown };
}

/** A full record, as the resource service gives it with `expand=true`; what a type adds is in `properties`. */
export interface PlatformRecord {
  id: string;
  name: string;
  description?: string;
  resource_type: string;
  resource_state: string;
  org: Reference;
  owner?: Reference;
  created?: { timestamp: string; id?: string; name?: string };
  modified?: { timestamp: string; action?: string; user?: string };
  tags?: string[];
  variables?: Record<string, string>;
  properties: { [name: string]: unknown };
}

/** Reads a list or a record of the resource service and keeps it current: it is read again after each commit. */
export function useWorld<T>(path: string, query: Record<string, string | boolean> = {}, isEnabled = true) {
  return useQuery<T>({
    queryKey: [keys.world, path, query],
    queryFn: ({ signal }) => load<T>(`/meta${path}`, query, signal),
    enabled: isEnabled,
    // A list that is being read again shows what it had.
    placeholderData: keepPreviousData,
  });
}

/** The part of the world that a page is narrowed to. */
export interface Scope {
  org?: PlatformRecord | undefined;
  workspace?: PlatformRecord | undefined;
  environment?: PlatformRecord | undefined;
  /** The fqon of the organization; `root` when there is no scope. */
  fqon: string;
  /** The id of the narrowest of them; undefined: everything. */
  id: string | undefined;
}

export function fqonOf(org: PlatformRecord | undefined): string {
  return typeof org?.properties.fqon === 'string' ? org.properties.fqon : 'root';
}

export interface ScopeChoices {
  scope: Scope;
  orgs: readonly PlatformRecord[];
  workspaces: readonly PlatformRecord[];
  environments: readonly PlatformRecord[];
}

/** Resolves `?scope=` in the address and lists the other choices. It reads only the resources on the way, not the whole world. */
export function useScope(): ScopeChoices {
  const [{ scope: id }] = useSearch();
  const orgs = useWorld<PlatformRecord[]>('/orgs', { expand: true }).data ?? NONE;
  const isOrg = orgs.some((record) => record.id === id);
  const narrow = useRecordOf(isOrg ? undefined : id);
  const workspaceId = narrow && (referenceId(narrow.properties.workspace) ?? narrow.id);
  const above = useRecordOf(workspaceId === narrow?.id ? undefined : workspaceId);
  const environment = narrow && workspaceId !== narrow.id ? narrow : undefined;
  const workspace = environment ? above : narrow;
  const orgId = narrow?.org.id ?? id;
  const org = orgs.find((record) => record.id === orgId);
  const fqon = fqonOf(org);
  const workspaces = useWorld<PlatformRecord[]>(`/${fqon}/workspaces`, { expand: true }, org !== undefined);
  const inside = `/${fqon}/workspaces/${workspace?.id}/environments`;
  const environments = useWorld<PlatformRecord[]>(inside, { expand: true }, workspace !== undefined);
  return useMemo(() => {
    const scopeRecord = environment ?? workspace ?? org;
    return {
      scope: { org, workspace, environment, fqon, id: scopeRecord?.id },
      orgs,
      workspaces: org ? (workspaces.data ?? NONE) : NONE,
      environments: workspace ? (environments.data ?? NONE) : NONE,
    };
  }, [orgs, org, workspace, environment, fqon, workspaces.data, environments.data]);
}

const NONE: readonly PlatformRecord[] = [];

/** A record by its id alone; undefined while it is being read and when it is not there. */
function useRecordOf(id: string | undefined): PlatformRecord | undefined {
  const { data } = useWorld<PlatformRecord>(`/root/resources/${id}`, {}, id !== undefined);
  // While another one is being read, the previous one is shown.
  return data?.id === id ? data : undefined;
}

/** The id in a reference such as `properties.workspace`, or in a bare id. */
export function referenceId(reference: unknown): string | undefined {
  const id = typeof reference === 'string' ? reference : memberOf(reference, 'id');
  return typeof id === 'string' ? id : undefined;
}
