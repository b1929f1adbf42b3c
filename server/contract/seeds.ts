import { z } from 'zod';
import { typeWords } from '../model/registry.ts';
import { named } from './named.ts';
import { flag, text } from './parameter.ts';
import { codeToRun, count, id } from './parts.ts';
import { ok, ownBody, rowsOf, stream } from './row.ts';

const JSON_OR_YAML = ['application/json', 'application/yaml'] as const;

const seedDocument = named(
  'SeedDocument',
  z
    .looseObject({ format: z.literal(1) })
    .describe('Resources by type and name, from the root organization down, such as `{format: 1, orgs: {demo: {}}}`'),
);

const seedChange = z.object({
  path: z.string().describe('Names from the root organization down; `/` is that itself'),
  type: z.enum(typeWords).describe('Word of the type, such as `lambdas`'),
  id: id.optional().describe('Absent for what a dry run would create'),
  action: z.enum(['create', 'update', 'delete', 'unchanged']),
  patch: z
    .array(z.object({ op: z.string(), path: z.string(), value: z.unknown().optional() }))
    .describe(
      'RFC 6902 operations on the resource as a seed document writes it, references as paths: an `add` or a `remove` of the ' +
        'whole (path ``) for one that is created or deleted, none for one that is unchanged',
    ),
});
export type SeedChange = z.output<typeof seedChange>;

const appliedSeed = named(
  'AppliedSeed',
  z.object({
    dryRun: z.boolean(),
    summary: z.object({ create: count, update: count, delete: count, unchanged: count }),
    changes: z.array(seedChange).describe('Every resource of the document, and every other that is changed'),
    runs: z.array(codeToRun).optional().describe('What of the code in it runs from now on'),
    commit: z.int().optional().describe('Sequence number of the one commit; absent when nothing was changed'),
  }),
);
export type AppliedSeed = z.output<typeof appliedSeed>;

/** The world as a document. */
export const seedRows = rowsOf('Seeds', {
  applySeed: {
    route: 'post /inspect/apply',
    summary: 'Make the world what a seed document says',
    description:
      'For the root user. One commit holds all changes; where one of them is refused none is made. What the document does ' +
      'not name is left alone, unless `prune` is true. Applied again it changes nothing. A `codeFile` is not read here: ' +
      'send the code as `properties.code`.',
    right: 'root',
    isStrict: true,
    query: {
      dryRun: flag('Only tell what would be changed'),
      prune: flag('Delete what stands below the organizations of the document and not in it, too'),
    },
    body: ownBody(seedDocument, ...JSON_OR_YAML),
    answer: ok(appliedSeed, 'What was done, or with `dryRun` what would be'),
    errors: [404, 409, 422],
  },
  exportSeed: {
    route: 'get /inspect/export',
    summary: 'The world, or one organization, as a seed document',
    description:
      'For the root user. YAML, or JSON where the Accept header prefers that. Passwords, values of secrets and credentials ' +
      'of providers are not in it: `<not exported>` stands for them, and applying the document keeps what is stored. ' +
      'Applied to the world it was made from it changes nothing.',
    right: 'root',
    isStrict: true,
    query: {
      scope: text('Path of an organization: names from the root organization down', {
        default: '/',
        examples: ['/demo'],
      }),
    },
    answer: stream(seedDocument, ...JSON_OR_YAML),
    errors: [404],
  },
});
