import { kindOf } from '../../api/resource-kinds.ts';
import type { TreePlace } from '../../api/tree.ts';
import type { PlatformRecord } from '../../api/world.ts';

/** What is carried, as it is probably called at the other platform, too. */
export interface PublishPlace {
  name: string;
  environmentId: string;
  /** `fqon/workspace/environment`, with the lambda or API if it is one. */
  path: string;
}

/** Of an environment, or of a lambda or an API in one; undefined for everything else. */
export function publishPlaceOf(
  { path, ...place }: Pick<TreePlace, 'path' | 'resource'>,
  record: PlatformRecord,
): PublishPlace | undefined {
  const { word } = kindOf(record);
  if (word !== 'environments' && word !== 'lambdas' && word !== 'apis') return undefined;
  const whole = word === 'environments' ? [...path, place.resource] : path;
  const environment = whole.at(-1);
  if (environment?.word !== 'environments') return undefined;
  // The root organization has a name in paths of others only where it holds the workspace itself.
  const organizations = whole.filter((one) => one.word === 'orgs').map(({ name }) => name);
  const below = organizations.length > 1 ? organizations.slice(1) : organizations;
  const workspace = whole.find((one) => one.word === 'workspaces');
  const part = word === 'environments' ? '' : `/${word}/${record.name}`;
  return {
    name: record.name,
    environmentId: environment.id,
    path: `${below.join('.')}/${workspace?.name ?? ''}/${environment.name}${part}`,
  };
}
