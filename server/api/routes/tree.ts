import { z } from 'zod';
import { typeWords } from '../../model/registry.ts';
import { isTypeWord, type TypeWord } from '../../model/type-words.ts';
import { count, id, object, time } from '../schemas/parts.ts';
import { choice, countOr, flag, list, text, uuid } from './parameter.ts';
import { defineRoutes, ok, permission, route } from './route.ts';

const collection = z.enum(typeWords);

/** The part of a resource that a row of a tree or list needs. */
const node = z.object({
  id,
  name: z.string(),
  description: z.string().optional(),
  word: collection,
  type: z.string().describe('Full type name without the prefix'),
  fqon: z.string(),
  parent: id.optional().describe('Absent for the root organization'),
  environment_type: z.string().optional(),
  isDisabled: z.literal(true).optional().describe('For a user whose account is disabled'),
  modified: time,
  children: count.describe('Number of children'),
});
export type TreeNode = z.output<typeof node>;

const rows = z.array(node);
const types = z.partialRecord(collection, count).describe('Number of resources per type');
const relation = z.object({ resource: node, pointer: z.string().describe('Pointer to the member with the reference') });

const scope = uuid('Only this resource and everything below it');
const page = {
  word: list<TypeWord>('Plural names of types, separated by commas', 'plural names of types', isTypeWord),
  offset: countOr(0, 'Number of rows to skip', 0),
  limit: countOr(200, 'Maximum number of rows', 1, 1000),
};
const viewPermission = permission('*.view', 'resource_id');
const target = { id: 'resource_id', types: [] } as const;

/** Kinds of providers that a record can refer to, as for `?type=` of the list of providers (D-065). */
export const PROVIDER_KINDS = ['CaaS', 'Lambda', 'GatewayManager'] as const;

export const treeRoutes = defineRoutes('Window', {
  searchTree: route('get /inspect/tree', 'caller', {
    summary: 'Search resources of the entire world',
    query: {
      q: text('Parts of the name, type or id'),
      scope,
      tops: flag('Only resources without a visible parent: the roots of the visible tree'),
      ...page,
    },
    answer: ok(object('TreeSearch', { rows, above: rows.describe('Ancestors of the rows'), total: count })),
  }),
  countTree: route('get /inspect/tree/counts', 'caller', {
    summary: 'Count the resources per type',
    query: { scope },
    answer: ok(object('TreeCounts', { total: count, types })),
  }),
  readTreePlace: route('get /inspect/tree/{resource_id}', viewPermission, {
    summary: 'Read the position of a resource',
    target,
    answer: ok(object('TreePlace', { resource: node, path: rows.describe('Ancestors, root first'), types })),
  }),
  listTreeChildren: route('get /inspect/tree/{resource_id}/children', viewPermission, {
    summary: 'List children page by page',
    description: 'Sorted by type and name. If a type has more than 5,000 children, they are sorted by age.',
    target,
    query: page,
    answer: ok(object('TreePage', { rows, total: count, types })),
  }),
  listTreeProviders: route('get /inspect/tree/{resource_id}/providers', viewPermission, {
    summary: 'List providers for new resources',
    description:
      'Returns the providers of the organization and of the organizations above, nearest first. Choosing a provider requires no ' +
      'permission (D-117). The list of the resource service contains only providers you can view.',
    target,
    query: { type: choice('Only running resources', PROVIDER_KINDS) },
    answer: ok(object('TreeProviders', { rows })),
  }),
  countTreeBelow: route('get /inspect/tree/{resource_id}/below', viewPermission, {
    summary: 'Count everything below, at any depth',
    target,
    query: page,
    answer: ok(object('TreeBelow', { rows, total: count, types })),
  }),
  listRelations: route('get /inspect/tree/{resource_id}/relations', viewPermission, {
    summary: 'List the references of a resource in both directions',
    target,
    query: { offset: page.offset, limit: page.limit },
    answer: ok(
      object('TreeRelations', {
        names: z.array(relation),
        namedBy: z.array(relation),
        total: count.describe('Number of resources that refer to it'),
      }),
    ),
  }),
});
