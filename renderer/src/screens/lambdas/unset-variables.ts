import { unsetVariables } from '../../../../server/model/read-variables.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { variablesOf } from './environment.ts';

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
