import { nearestOf } from '../../model/nearest.ts';
import { isUuid } from '../../model/record.ts';
import { typeOfWord } from '../../model/registry.ts';
import { lastNameOf, namedIn, pathsIn } from '../../model/resource-path.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { treeRoutes } from '../routes/tree.ts';
import type { RowClient } from './route-client.ts';

/** Such as `a, b or c`. */
const ALTERNATIVES = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Makes the error where no resource, or more than one, matches. */
type Refused = (reason: string, isAmbiguous: boolean) => Error;

/** Finds the id of a resource of one of these types by its id, by its path, such as `/demo/website/development/shop`, or by its name alone. */
export async function findByName(
  client: RowClient,
  collections: readonly TypeWord[],
  named: string,
  refused: Refused,
): Promise<string> {
  const isId: boolean = isUuid(named); // as a type guard, isUuid would narrow `named` to never below
  if (isId) return named;
  const search = (q?: string) =>
    Promise.all(
      collections.map((collection) =>
        client.ask(treeRoutes.searchTree, {
          query: { word: collection, limit: '1000', ...(q !== undefined && { q }) },
        }),
      ),
    );
  const found = (await search(lastNameOf(named))).flatMap((tree) => namedIn(tree, named));
  const [match, ...more] = found;
  if (!match) {
    const kinds = ALTERNATIVES.format(collections.map((collection) => typeOfWord(collection).singular));
    const nearest = nearestPath(named, (await search()).flatMap(pathsIn));
    throw refused(`${kinds} '${named}' not found${nearest === undefined ? '' : `; the nearest is ${nearest}`}`, false);
  }
  if (more.length === 0) return match.id;
  const paths = found.map(({ path }) => path).join(', ');
  throw refused(
    `the name '${named}' matches ${found.length} ${ALTERNATIVES.format(collections)}. Give the path of one: ${paths}`,
    true,
  );
}

/** The path whose name is nearest to the last name of what was given. */
function nearestPath(named: string, paths: readonly string[]): string | undefined {
  const name = nearestOf(named.slice(named.lastIndexOf('/') + 1), paths.map(lastNameOf));
  return paths.find((path) => lastNameOf(path) === name);
}
