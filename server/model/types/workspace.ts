import { z } from 'zod';
import type { ResourceType } from '../resource-type.ts';
import { WORKSPACE } from '../rules/hierarchy.ts';
import { variablesInside } from './schema-parts.ts';

/** D-042. */
export const workspace: ResourceType = {
  name: WORKSPACE,
  collection: 'workspaces',
  singular: 'workspace',
  summary: 'A project-level grouping of environments.',
  parents: ['orgs'],
  properties: z.strictObject({ env: variablesInside() }),
  example: { name: 'website', properties: { env: { REGION: 'north' } } },
  serverSet: [],
};
