import { isJsonObject } from '../../../../server/model/json.ts';
import { unsetVariables } from '../../../../server/model/read-variables.ts';
import type { PlatformRecord } from '../../api/world.ts';

export interface Variable {
  name: string;
  value: string;
  /** Of the lambda's lineage: who gives it this value. */
  from: PlatformRecord;
  /** Who else gives it one that does not count. */
  overrides: readonly PlatformRecord[];
}

/**
 * The variables that a lambda sees, by name (D-111: the nearest wins).
 *
 * @param lineage the lambda, then what it is below, root last
 */
export function variablesOf(lineage: readonly PlatformRecord[]): Variable[] {
  const found = new Map<string, { value: string; from: PlatformRecord; overrides: PlatformRecord[] }>();
  for (const record of lineage) {
    const { env } = record.properties;
    if (!isJsonObject(env)) continue;
    for (const [name, value] of Object.entries(env)) {
      const nearer = found.get(name);
      if (nearer) nearer.overrides.push(record);
      else found.set(name, { value: String(value), from: record, overrides: [] });
    }
  }
  return [...found].map(([name, rest]) => ({ name, ...rest })).sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

/**
 * The variables that code reads and that nobody sets, in the order in which it reads them.
 *
 * @param lineage the lambda, then what it is below, root last
 */
export function unsetVariablesIn(source: string, lineage: readonly PlatformRecord[]): string[] {
  return unsetVariables(
    source,
    lineage[0]?.properties,
    variablesOf(lineage).map(({ name }) => name),
  );
}
