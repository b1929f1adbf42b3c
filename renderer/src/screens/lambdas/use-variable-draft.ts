import type { Operation } from 'fast-json-patch';
import { isJsonObject } from '../../../../server/model/json.ts';
import { pointerTo } from '../../../../server/model/patch/pointer.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { useDraftOf } from '../../draft-store.ts';
import { type VariableChange, variableDrafts } from './drafts.ts';

const NONE: ReadonlyMap<string, VariableChange> = new Map();

/** The lambda's own variables while they are changed. */
export function useVariableDraft(lambda: PlatformRecord) {
  const changes = useDraftOf(variableDrafts, lambda.id) ?? NONE;
  const ownValues = ownVariables(lambda);
  const keep = (next: ReadonlyMap<string, VariableChange>) =>
    variableDrafts.keep(lambda.id, next.size === 0 ? undefined : next);
  return {
    changes,
    own: ownValues,
    patch: variablesPatch(changes, isJsonObject(lambda.properties.env)),
    /** Names whose value another user changed to a different one. */
    conflicts: [...changes]
      .filter(([name, { base, value }]) => ownValues.get(name) !== base && ownValues.get(name) !== value)
      .map(([name]) => name),
    /** Gives a variable a value, or with undefined takes it away. */
    change(name: string, value: string | undefined) {
      const before = changes.get(name);
      keep(new Map(changes).set(name, { base: before ? before.base : ownValues.get(name), value }));
    },
    undo(name: string) {
      const next = new Map(changes);
      next.delete(name);
      keep(next);
    },
    rebase(name: string) {
      const change = changes.get(name);
      if (change) keep(new Map(changes).set(name, { ...change, base: ownValues.get(name) }));
    },
    discard: () => keep(NONE),
  };
}

/** Name and value of each variable that the lambda itself has. */
function ownVariables({ properties: { env } }: PlatformRecord): ReadonlyMap<string, string> {
  return new Map(Object.entries(isJsonObject(env) ? env : {}).map(([name, value]) => [name, String(value)]));
}

/**
 * The changes as a patch. Each says what it began with, so that no change of another user is overwritten.
 *
 * @param hasEnv has the lambda any variables, if only none?
 */
export function variablesPatch(changes: ReadonlyMap<string, VariableChange>, hasEnv: boolean): Operation[] {
  const real = [...changes].filter(([, { base, value }]) => base !== value);
  const operations = real.flatMap(([name, { base, value }]): Operation[] => {
    const path = pointerTo(['properties', 'env', name]);
    const test: Operation[] = base === undefined ? [] : [{ op: 'test', path, value: base }];
    if (value === undefined) return [...test, { op: 'remove', path }];
    return [...test, { op: base === undefined ? 'add' : 'replace', path, value }];
  });
  if (operations.length === 0 || hasEnv) return operations;
  return [{ op: 'add', path: '/properties/env', value: {} }, ...operations];
}
