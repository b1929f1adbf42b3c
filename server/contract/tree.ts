import { z } from 'zod';
import { typeWords } from '../model/registry.ts';
import { isTypeWord, type TypeWord } from '../model/type-words.ts';
import { named } from './named.ts';
import { choice, countOr, flag, list, text, uuid } from './parameter.ts';
import { id, time } from './parts.ts';
import { may } from './right.ts';
import { ok, rowsOf } from './row.ts';

const count = z.int().min(0);
const word = z.enum(typeWords);

/** As much of a resource as a row of a tree or a list needs. */
const node = z.object({
  id,
  name: z.string(),
  description: z.string().optional(),
  word,
  type: z.string().describe('Full type name after the prefix'),
  fqon: z.string(),
  parent: id.optional().describe('Absent for the root organization'),
  environment_type: z.string().optional(),
  isDisabled: z.literal(true).optional().describe('Of a user whose account is disabled'),
  modified: time,
  children: count.describe('How many are directly below'),
});
export type TreeNode = z.output<typeof node>;

const rows = z.array(node);
const types = z.partialRecord(word, count).describe('How many of each type');
const relation = z.object({ resource: node, pointer: z.string().describe('Of the member that names the other') });

const scope = uuid('Only what is below this resource, and itself');
const page = {
  word: list<TypeWord>('Words of types, with commas between them', 'words of types', isTypeWord),
  offset: countOr(0, 'How many to skip', 0),
  limit: countOr(200, 'How many rows', 1, 1000),
};
const seesIt = may('*.view', 'resource_id');
const target = { id: 'resource_id', of: [] } as const;

/** Kinds of providers that a record names, as `?type=` of their list has them (D-065). */
export const PROVIDER_KINDS = ['CaaS', 'Lambda', 'GatewayManager'] as const;

/** The hierarchy piece by piece, as the window shows it. */
export const treeRows = rowsOf('Window', {
  searchTree: {
    route: 'get /inspect/tree',
    summary: 'Resources of the whole world by a part of their name',
    right: 'caller',
    query: {
      q: text('Parts of its name, type or id'),
      scope,
      tops: flag('Only what stands in nothing that one may view: where the tree of what one may view begins'),
      ...page,
    },
    answer: ok(
      named('TreeSearch', z.object({ rows, above: rows.describe('Everything above the rows'), total: count })),
    ),
  },
  countTree: {
    route: 'get /inspect/tree/counts',
    summary: 'How many resources of each type there are',
    right: 'caller',
    query: { scope },
    answer: ok(named('TreeCounts', z.object({ total: count, types }))),
  },
  readTreePlace: {
    route: 'get /inspect/tree/{resource_id}',
    summary: 'Where a resource stands',
    right: seesIt,
    target,
    answer: ok(
      named('TreePlace', z.object({ resource: node, path: rows.describe('What it is below, root first'), types })),
    ),
  },
  listTreeChildren: {
    route: 'get /inspect/tree/{resource_id}/children',
    summary: 'What is directly below, page by page',
    description: 'By type and name; more than 5,000 of a type stay oldest first.',
    right: seesIt,
    target,
    query: page,
    answer: ok(named('TreePage', z.object({ rows, total: count, types }))),
  },
  listTreeProviders: {
    route: 'get /inspect/tree/{resource_id}/providers',
    summary: 'What can run what is created there',
    description:
      'The providers of its organization and of those above, nearest first. Naming them takes no right (D-117), and so it takes none to ' +
      'choose among them; the list of the resource service has those that one may view.',
    right: seesIt,
    target,
    query: { type: choice('Only those that run', PROVIDER_KINDS) },
    answer: ok(named('TreeProviders', z.object({ rows }))),
  },
  countTreeBelow: {
    route: 'get /inspect/tree/{resource_id}/below',
    summary: 'Everything below, at any depth',
    right: seesIt,
    target,
    query: page,
    answer: ok(named('TreeBelow', z.object({ rows, total: count, types }))),
  },
  listRelations: {
    route: 'get /inspect/tree/{resource_id}/relations',
    summary: 'What a resource names, and what names it',
    right: seesIt,
    target,
    query: { offset: page.offset, limit: page.limit },
    answer: ok(
      named(
        'TreeRelations',
        z.object({
          names: z.array(relation),
          namedBy: z.array(relation),
          total: count.describe('How many name it'),
        }),
      ),
    ),
  },
});
