import { z } from 'zod';
import { UserError } from '../config.ts';
import { treeRows } from '../contract/tree.ts';
import { isUuid } from '../model/ids.ts';
import { namedIn } from '../model/resource-path.ts';
import type { PlatformClient } from './platform-client.ts';

/** How a lambda is named on the command line. */
export const LAMBDA_ARGUMENT =
  'its id, its path such as /demo/website/development/contact-form, or its name where only one has it';

const listSchema = z.array(z.looseObject({ id: z.string() }));

/**
 * The id of a lambda that is named by its id, by its path (organizations, workspace, environment, name), or by its name alone.
 *
 * @throws UserError when that leads nowhere, or to several
 */
export async function findLambda(client: PlatformClient, named: string): Promise<string> {
  const isId: boolean = isUuid(named); // as a type guard it would leave no string for the rest
  if (isId) return named;
  if (!named.includes('/')) return findByName(client, named);
  const [lambda, environment, workspace, ...organizations] = named.split('/').slice(1).reverse();
  if (!named.startsWith('/') || !lambda || !environment || !workspace) {
    throw new UserError(`'${named}' names no lambda: give ${LAMBDA_ARGUMENT}`);
  }
  // The path begins below the root organization, whose own name is only written where nothing else is.
  const fqon = organizations.length === 0 ? 'root' : organizations.reverse().join('.');
  const only = async (place: string, word: string, name: string) => {
    const path = `/meta/${encodeURIComponent(fqon)}${place}/${word}?name=${encodeURIComponent(name)}`;
    const [found] = await client.json('GET', path, listSchema);
    if (!found) throw new UserError(`'${named}' leads to no lambda: there is no '${name}' among the ${word} there`);
    return found.id;
  };
  const workspaceId = await only('', 'workspaces', workspace);
  const environmentId = await only(`/workspaces/${workspaceId}`, 'environments', environment);
  return only(`/environments/${environmentId}`, 'lambdas', lambda);
}

async function findByName(client: PlatformClient, name: string): Promise<string> {
  const query = new URLSearchParams({ word: 'lambdas', limit: '1000', q: name });
  const found = namedIn(await client.ask(treeRows.searchTree, { query }), name);
  const [only, ...more] = found;
  if (!only) throw new UserError(`there is no lambda '${name}': give ${LAMBDA_ARGUMENT}`);
  if (more.length === 0) return only.id;
  const paths = found.map(({ path }) => path).join(', ');
  throw new UserError(`'${name}' is the name of ${found.length} lambdas: say which by its path (${paths})`);
}
