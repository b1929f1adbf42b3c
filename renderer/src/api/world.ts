import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useSearch } from '../url.ts';
import { load } from './client.ts';
import { keys } from './query-client.ts';

/** A reference to a record, as the resource service gives it. */
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

/** Reads a list or a record of the resource service and keeps it current: it is read anew after each commit. */
export function useWorld<T>(path: string, query: Record<string, string | boolean> = {}, isEnabled = true) {
  return useQuery<T>({
    queryKey: [keys.world, path, query],
    queryFn: ({ signal }) => load<T>(`/meta${path}`, query, signal),
    enabled: isEnabled,
    // A list that is being read anew shows what it had.
    placeholderData: keepPreviousData,
  });
}

/** What a page is narrowed to. */
export interface Scope {
  org?: PlatformRecord | undefined;
  workspace?: PlatformRecord | undefined;
  environment?: PlatformRecord | undefined;
  /** The fqon of the organization; `root` when there is no scope. */
  fqon: string;
  /** The id of the narrowest of them; undefined: everything. */
  id: string | undefined;
}

/** The fqon of an organization's record. */
export function fqonOf(org: PlatformRecord | undefined): string {
  return typeof org?.properties.fqon === 'string' ? org.properties.fqon : 'root';
}

export interface ScopeChoices {
  scope: Scope;
  orgs: readonly PlatformRecord[];
  workspaces: readonly PlatformRecord[];
  environments: readonly PlatformRecord[];
}

/** What `?scope=` in the address means, and what else could be chosen. */
export function useScope(): ScopeChoices {
  const [{ scope: id }] = useSearch();
  const orgs = useWorld<PlatformRecord[]>('/orgs', { expand: true }).data ?? NONE;
  const places = usePlaces(orgs);
  return useMemo(() => {
    const environment = places.environments.find((record) => record.id === id);
    const workspaceId = environment ? referenceId(environment.properties.workspace) : id;
    const workspace = places.workspaces.find((record) => record.id === workspaceId);
    const orgId = (workspace ?? environment)?.org.id ?? id;
    const org = orgs.find((record) => record.id === orgId);
    const known = environment ?? workspace ?? org;
    return {
      scope: { org, workspace, environment, fqon: fqonOf(org), id: known?.id },
      orgs,
      workspaces: org ? places.workspaces.filter((record) => record.org.id === org.id) : NONE,
      environments: workspace
        ? places.environments.filter((record) => referenceId(record.properties.workspace) === workspace.id)
        : NONE,
    };
  }, [id, orgs, places]);
}

const NONE: readonly PlatformRecord[] = [];

/** All workspaces and environments below the organizations. */
function usePlaces(orgs: readonly PlatformRecord[]) {
  const fqons = useMemo(() => orgs.map(fqonOf), [orgs]);
  const { data } = useQuery({
    queryKey: [keys.world, 'places', fqons],
    queryFn: async ({ signal }) => {
      const all = (type: string) =>
        Promise.all(fqons.map((fqon) => load<PlatformRecord[]>(`/meta/${fqon}/${type}`, { expand: true }, signal)));
      const [workspaces, environments] = await Promise.all([all('workspaces'), all('environments')]);
      return { workspaces: unique(workspaces.flat()), environments: unique(environments.flat()) };
    },
    enabled: fqons.length > 0,
    placeholderData: keepPreviousData,
  });
  return useMemo(() => data ?? { workspaces: NONE, environments: NONE }, [data]);
}

/** Lists of an organization may hold what its children hold, too. */
function unique(records: readonly PlatformRecord[]): PlatformRecord[] {
  return [...new Map(records.map((record) => [record.id, record])).values()];
}

/** The id in a reference such as `properties.workspace`, or in a bare id. */
export function referenceId(reference: unknown): string | undefined {
  if (typeof reference === 'string') return reference;
  if (typeof reference !== 'object' || reference === null || !('id' in reference)) return undefined;
  return typeof reference.id === 'string' ? reference.id : undefined;
}
