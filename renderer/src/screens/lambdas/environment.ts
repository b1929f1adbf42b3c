import { isJsonObject } from '../../../../server/model/json.ts';
import { unsetVariables } from '../../../../server/model/unset-variables.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import type { Lineage } from './use-ancestors.ts';

export interface Variable {
  name: string;
  value: string;
  /** The lambda, or what it is below: where the value is set; undefined where the user may not view that. */
  from: PlatformRecord | undefined;
  /** The other resources that set the variable, whose values do not count. */
  overrides: readonly PlatformRecord[];
}

/** The variables that a lambda sees, by name (D-111: the nearest wins). */
export function variablesOf(lambda: PlatformRecord, { above, merged = {} }: Lineage): Variable[] {
  const found = new Map<string, { value: string; from: PlatformRecord | undefined; overrides: PlatformRecord[] }>();
  for (const record of [lambda, ...above]) {
    const { env } = record.properties;
    if (!isJsonObject(env)) continue;
    for (const [name, value] of Object.entries(env)) {
      const nearer = found.get(name);
      if (nearer) nearer.overrides.push(record);
      else found.set(name, { value: String(value), from: record, overrides: [] });
    }
  }
  for (const [name, value] of Object.entries(merged)) {
    if (!found.has(name)) found.set(name, { value, from: undefined, overrides: [] });
  }
  return [...found].map(([name, rest]) => ({ name, ...rest })).sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

/** The variables that code reads and that are not set, in the order in which it reads them. */
export function unsetVariablesIn(source: string, lambda: PlatformRecord, ancestors: Lineage): string[] {
  return unsetVariables(
    source,
    lambda.properties,
    variablesOf(lambda, ancestors).map(({ name }) => name),
  );
}
