import { isUuid } from '../../model/record.ts';
import { lastNameOf, namedIn } from '../../model/resource-path.ts';
import { treeRoutes } from '../routes/tree.ts';
import type { RowClient } from './route-client.ts';

/**
 * Finds the id of a lambda by its id, by its path (organizations, workspace, environment, name), or by its name alone.
 *
 * @param refused makes the error where none or several match
 */
export async function findLambdaBy(
  client: RowClient,
  named: string,
  refused: (reason: string, isAmbiguous: boolean) => Error,
): Promise<string> {
  const isId: boolean = isUuid(named); // as a type guard, isUuid would narrow `named` to never below
  if (isId) return named;
  const query = { word: 'lambdas', limit: '1000', q: lastNameOf(named) };
  const found = namedIn(await client.ask(treeRoutes.searchTree, { query }), named);
  const [only, ...more] = found;
  if (!only) throw refused(`lambda '${named}' not found`, false);
  if (more.length === 0) return only.id;
  const paths = found.map(({ path }) => path).join(', ');
  throw refused(`the name '${named}' matches ${found.length} lambdas. Give the path of one: ${paths}`, true);
}
