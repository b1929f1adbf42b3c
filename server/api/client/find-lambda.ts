import { isUuid } from '../../model/record.ts';
import { typeOfWord } from '../../model/registry.ts';
import { lastNameOf, namedIn } from '../../model/resource-path.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { treeRoutes } from '../routes/tree.ts';
import type { RowClient } from './route-client.ts';

/** Makes the error where no resource, or more than one, matches. */
type Refused = (reason: string, isAmbiguous: boolean) => Error;

/** Finds the id of a lambda by its id, by its path (organizations, workspace, environment, name), or by its name alone. */
export function findLambdaBy(client: RowClient, named: string, refused: Refused): Promise<string> {
  return findByName(client, ['lambdas'], named, refused);
}

/** Finds the id of a resource of one of these types in the same way. */
export async function findByName(
  client: RowClient,
  collections: readonly TypeWord[],
  named: string,
  refused: Refused,
): Promise<string> {
  const isId: boolean = isUuid(named); // as a type guard, isUuid would narrow `named` to never below
  if (isId) return named;
  const search = async (collection: TypeWord) => {
    const query = { word: collection, limit: '1000', q: lastNameOf(named) };
    return namedIn(await client.ask(treeRoutes.searchTree, { query }), named);
  };
  const found = (await Promise.all(collections.map(search))).flat();
  const [match, ...more] = found;
  if (!match)
    throw refused(
      `${alternatives(collections.map((collection) => typeOfWord(collection).singular))} '${named}' not found`,
      false,
    );
  if (more.length === 0) return match.id;
  const paths = found.map(({ path }) => path).join(', ');
  throw refused(
    `the name '${named}' matches ${found.length} ${alternatives(collections)}. Give the path of one: ${paths}`,
    true,
  );
}

/** Names as a sentence has them: `a, b or c`. */
function alternatives(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
