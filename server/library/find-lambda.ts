import { treeRows } from '../contract/tree.ts';
import { isUuid } from '../model/ids.ts';
import { lastNameOf, namedIn } from '../model/resource-path.ts';
import type { Client } from './client.ts';
import { failure } from './failure.ts';

/** The id of a lambda that is named by its id, by its path, or by its name where only one has it. Throws TerrariumError. */
export async function findLambda(client: Client, named: string): Promise<string> {
  const isId: boolean = isUuid(named); // as a type guard it would leave no string for the rest
  if (isId) return named;
  const query = { word: 'lambdas', limit: '1000', q: lastNameOf(named) };
  const found = namedIn(await client.ask(treeRows.searchTree, { query }), named);
  const [only, ...more] = found;
  if (!only) throw failure('NOT_FOUND', `there is no lambda '${named}'`);
  if (more.length === 0) return only.id;
  const paths = found.map(({ path }) => path).join(', ');
  throw failure('AMBIGUOUS', `'${named}' is the name of ${found.length} lambdas: say which by its path (${paths})`);
}
