import { z } from 'zod';
import { may, SEES_ALL } from '../contract/right.ts';
import { typeWords } from '../model/type-words.ts';
import { type Operation, ok, ref, rowsOf } from './operation.ts';

const window = rowsOf('Window');
const count = z.int().min(0);
const word = z.enum(typeWords);

const node = z.object({
  id: z.uuid(),
  name: z.string(),
  description: z.string().optional(),
  word,
  type: z.string().describe('Full type name after the prefix'),
  fqon: z.string(),
  parent: z.uuid().optional().describe('Absent for the root organization'),
  environment_type: z.string().optional(),
  isDisabled: z.literal(true).optional().describe('Of a user whose account is disabled'),
  modified: z.iso.datetime(),
  children: count.describe('How many are directly below'),
});
const rows = z.array(node);
const types = z.partialRecord(word, count).describe('How many of each type');
const relation = z.object({ resource: node, pointer: z.string().describe('Of the member that names the other') });

/** Pieces of the hierarchy. */
export const treeSchemas = {
  TreeSearch: z.object({ rows, above: rows.describe('Everything above the rows'), total: count }),
  TreeCounts: z.object({ total: count, types }),
  TreePlace: z.object({ resource: node, path: rows.describe('What it is below, root first'), types }),
  TreePage: z.object({ rows, total: count, types }),
  TreeBelow: z.object({ rows, total: count, types }),
  TreeRelations: z.object({
    names: z.array(relation),
    namedBy: z.array(relation),
    total: count.describe('How many name it'),
  }),
};

const page = ['tree_word', 'tree_offset', 'tree_limit'] as const;

/** The hierarchy piece by piece, as the window shows it. */
export const treeOperations: readonly Operation[] = [
  window('get /inspect/tree', 'searchTree', 'Resources of the whole world by a part of their name', {
    right: SEES_ALL,
    query: ['tree_query', 'tree_scope', ...page],
    success: ok(ref('TreeSearch')),
    errors: [400, 403],
  }),
  window('get /inspect/tree/counts', 'countTree', 'How many resources of each type there are', {
    right: SEES_ALL,
    query: ['tree_scope'],
    success: ok(ref('TreeCounts')),
    errors: [400, 403],
  }),
  window('get /inspect/tree/{resource_id}', 'readTreePlace', 'Where a resource stands', {
    right: [...SEES_ALL, ...may('*.view', 'resource_id')],
    success: ok(ref('TreePlace')),
    errors: [400, 403, 404],
  }),
  window('get /inspect/tree/{resource_id}/children', 'listTreeChildren', 'What is directly below, page by page', {
    right: [...SEES_ALL, ...may('*.view', 'resource_id')],
    description: 'By type and name; more than 5,000 of a type stay oldest first.',
    query: page,
    success: ok(ref('TreePage')),
    errors: [400, 403, 404],
  }),
  window('get /inspect/tree/{resource_id}/below', 'countTreeBelow', 'Everything below, at any depth', {
    right: [...SEES_ALL, ...may('*.view', 'resource_id')],
    query: page,
    success: ok(ref('TreeBelow')),
    errors: [400, 403, 404],
  }),
  window('get /inspect/tree/{resource_id}/relations', 'listRelations', 'What a resource names, and what names it', {
    right: [...SEES_ALL, ...may('*.view', 'resource_id')],
    query: ['tree_offset', 'tree_limit'],
    success: ok(ref('TreeRelations')),
    errors: [400, 403, 404],
  }),
];
