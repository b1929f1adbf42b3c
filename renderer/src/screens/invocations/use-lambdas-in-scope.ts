import { useMemo } from 'react';
import { parentIdOf } from '../../api/resource-kinds.ts';
import { type PlatformRecord, useScope, useWorld } from '../../api/world.ts';

/** The ids of the lambdas within the scope; undefined when nothing is narrowed (deleted lambdas count then, too). */
export function useLambdasInScope(): ReadonlySet<string> | undefined {
  const { scope, environments } = useScope();
  const isNarrowed = scope.id !== undefined;
  const { data } = useWorld<PlatformRecord[]>(`/${scope.fqon}/lambdas`, { expand: true }, isNarrowed);
  return useMemo(() => {
    if (!isNarrowed) return undefined;
    const places = scope.environment
      ? new Set([scope.environment.id])
      : scope.workspace && new Set([scope.workspace.id, ...environments.map(({ id }) => id)]);
    const inside = (data ?? []).filter((lambda) => places === undefined || places.has(parentIdOf(lambda) ?? ''));
    return new Set(inside.map(({ id }) => id));
  }, [isNarrowed, scope, environments, data]);
}
