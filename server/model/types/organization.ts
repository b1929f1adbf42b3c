import { z } from 'zod';
import { invalid, PlatformError } from '../errors.ts';
import type { ResourceType } from '../resource-type.ts';
import { fqonOf, ORGANIZATION } from '../rules/hierarchy.ts';
import { variablesInside } from './schema-parts.ts';

/** First path segments of both services, which organizations cannot use as names (D-041). */
const reservedNames: ReadonlySet<unknown> = new Set(
  (
    'orgs users groups workspaces environments lambdas health about rules top sync bootstrap migrate upgrade logs ' +
    'resourcestates resourcetypes environmenttypes datatypes visibilitytypes requirementtypes oauth auth accounts ' +
    'directories info init'
  ).split(' '),
);

export function isReservedName(name: unknown): boolean {
  return reservedNames.has(name);
}

/** D-040, D-041. */
export const organization: ResourceType = {
  name: ORGANIZATION,
  collection: 'orgs',
  singular: 'org',
  summary:
    'A node in the structure of an organization; contains sub-organizations, workspaces, users, groups and policies.',
  parents: ['orgs'],
  properties: z.strictObject({ env: variablesInside() }),
  example: { name: 'acme', properties: { env: { REGION: 'north' } } },
  serverSet: ['fqon', 'children'],
  nameRule: {
    pattern: /^[a-z0-9-]+$/,
    maxLength: 63,
    hint: 'consist of lower-case letters, digits and hyphens, at most 63 characters',
  },

  validate({ id, name, properties }, { view, parent }) {
    if (id === view.root.id) {
      if (name !== view.root.name)
        throw new PlatformError('protected_resource', 'the root organization cannot be renamed');
    } else {
      if (isReservedName(name)) throw invalid('/name', `'${name}' is reserved: it is the first segment of a path`);
      if (name === 'root' && parent.id === view.root.id) {
        throw new PlatformError('name_taken', "org 'root' already exists: it is the root organization");
      }
    }
    return { properties };
  },

  release(record, view) {
    if (record.id === view.root.id)
      throw new PlatformError('protected_resource', 'the root organization cannot be deleted');
  },

  toView(record, { view, link }) {
    const children = view.children(record.id, 'orgs').map(link);
    return { ...record.properties, fqon: fqonOf(view, record), ...(children.length > 0 && { children }) };
  },
};
