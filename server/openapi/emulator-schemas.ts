import { z } from 'zod';

const id = z.uuid();
const count = z.int().min(0);

/** What the gateway's own routes (D-164..D-167) and those of the emulator (D-191, D-200, seeds) are sent and answer. */
export const emulatorSchemas = {
  AsyncCall: z.looseObject({ lambdaId: id }).describe('The event; `lambdaId` names the lambda'),
  AsyncAcceptance: z.object({ lambdaId: id.describe('Id of this invocation, for `/results/{result_id}`') }),
  AsyncResult: z.object({
    contentType: z.string(),
    executionId: id,
    executionTime: z.int().describe('When it ended, milliseconds since 1970'),
    lambdaId: id,
    result: z.string(),
    error: z.string().optional().describe('Only of a failed execution'),
  }),
  Lead: z.object({
    id,
    receivedAt: z.iso.datetime(),
    oid: z.string().describe('The CRM organization that the form was meant for'),
    fields: z.array(z.object({ name: z.string(), value: z.string() })),
    mapped: z.record(z.string(), z.string()).describe("The fields under the web form's own names"),
    source: z.object({ host: z.string(), path: z.string() }),
    remote: z.string(),
  }),
  SeedDocument: z
    .looseObject({ format: z.literal(1) })
    .describe('Resources by type and name, from the root organization down, such as `{format: 1, orgs: {demo: {}}}`'),
  AppliedSeed: z.object({
    dryRun: z.boolean(),
    summary: z.object({ create: count, update: count, delete: count, unchanged: count }),
    changes: z.array(
      z.object({
        path: z.string().describe('Names from the root organization down; `/` is that itself'),
        type: z.string().describe('Word of the type, such as `lambdas`'),
        id: id.optional().describe('Absent for what a dry run would create'),
        action: z.enum(['create', 'update', 'delete', 'unchanged']),
        patch: z
          .array(z.looseObject({ op: z.enum(['add', 'remove', 'replace']), path: z.string() }))
          .describe('RFC 6902 operations on the resource as a seed document writes it'),
      }),
    ),
    commit: z.int().optional().describe('Sequence number of the one commit; absent when nothing was changed'),
  }),
};
