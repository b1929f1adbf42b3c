import { z } from 'zod';
import { typeWords } from '../../model/registry.ts';
import { codeToRun, count, id, named, object, patchOperations } from '../schemas/parts.ts';
import { flag, text } from './parameter.ts';
import { defineRoutes, ok, ownBody, route, stream } from './route.ts';

const JSON_OR_YAML = ['application/json', 'application/yaml'] as const;

const seedDocument = named(
  'SeedDocument',
  z
    .looseObject({ format: z.literal(1) })
    .describe('Resources by type and name, from the root organization down, such as `{format: 1, orgs: {demo: {}}}`'),
);

const seedChange = z.object({
  path: z.string().describe('Names from the root organization down; `/` is the root organization'),
  type: z.enum(typeWords).describe('Plural name of the type, such as `lambdas`'),
  id: id.optional().describe('Absent for a resource that a dry run would create'),
  action: z.enum(['create', 'update', 'delete', 'unchanged']),
  patch: patchOperations.describe(
    'RFC 6902 operations on the resource in seed format, with references as paths. A created or deleted resource has one `add` ' +
      'or `remove` of the whole (path ``), an unchanged resource has none',
  ),
});
export type SeedChange = z.output<typeof seedChange>;

const appliedSeed = object('AppliedSeed', {
  dryRun: z.boolean(),
  summary: z.object({ create: count, update: count, delete: count, unchanged: count }),
  changes: z.array(seedChange).describe('All resources of the document, and all others that change'),
  runs: z.array(codeToRun).optional().describe('Imported code that can run from now on'),
  outbound: z.array(z.string()).optional().describe('The new rules for outbound calls; absent if they stay'),
  commit: z.int().optional().describe('Commit number; absent if nothing changed'),
});
export type AppliedSeed = z.output<typeof appliedSeed>;

export const seedRoutes = defineRoutes('Seeds', {
  applySeed: route('post /inspect/apply', 'root', {
    summary: 'Apply a seed document',
    description:
      'All changes are one commit; if the platform rejects one, nothing changes. Resources that are not in the document ' +
      'are kept unless `prune` is true. Applying a document twice has no further effect. `codeFile` is not read: send the code as ' +
      '`properties.code`.',
    isStrict: true,
    query: {
      dryRun: flag('Only report what would change'),
      prune: flag('Delete resources below the organizations of the document that are not in the document'),
    },
    body: { ...ownBody(seedDocument, ...JSON_OR_YAML), example: { format: 1, orgs: { acme: {} } } },
    answer: ok(appliedSeed, 'The changes, or with `dryRun` the changes that would be made'),
    errors: [404, 409, 422],
  }),
  exportSeed: route('get /inspect/export', 'root', {
    summary: 'Export the world or one organization as a seed document',
    description:
      'Returns YAML, or JSON if the Accept header prefers it. Passwords, values of secrets and credentials of ' +
      'providers are replaced by `<not exported>`; applying the document keeps the stored ones, and gives new users random ' +
      'passwords. Applying the document to the same world has no effect. A document of one organization also has the ' +
      'providers and accounts outside to which it refers; of accounts only the names.',
    isStrict: true,
    query: {
      scope: text('Path of an organization: names from the root organization down', {
        default: '/',
        examples: ['/demo'],
      }),
    },
    answer: stream(seedDocument, ...JSON_OR_YAML),
    errors: [404],
  }),
});
