import { z } from 'zod';
import { deliverySchemas } from './delivery-operations.ts';
import { codeToRun, historySchemas } from './history-schemas.ts';
import { keySchemas } from './key-operations.ts';
import { settingsSchemas } from './settings-operations.ts';
import { recordedBody, windowSchemas } from './window-operations.ts';

const id = z.uuid();
const time = z.iso.datetime();
const logLine = z.object({
  at: time,
  stream: z.enum(['stdout', 'stderr']),
  text: z.string(),
  executionId: id.optional(),
});
const count = z.int().min(0);
const outboundBody = recordedBody.extend({
  encoding: z.string().optional().describe('Its content encoding: `text` is decompressed, `sizeBytes` is not'),
});

/** What the gateway's own routes (D-164..D-167) and those of the emulator (D-191, D-200, seeds) are sent and answer. */
export const emulatorSchemas = {
  ...historySchemas,
  ...deliverySchemas,
  ...windowSchemas,
  ...settingsSchemas,
  ...keySchemas,
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
    oid: z
      .string()
      .optional()
      .describe('The CRM organization that the form was meant for; only a refused form may have none'),
    fields: z.array(z.object({ name: z.string(), value: z.string() })),
    mapped: z.record(z.string(), z.string()).describe("The fields under the web form's own names"),
    source: z.object({ host: z.string(), path: z.string() }),
    remote: z.string(),
    refused: z
      .object({ status: z.int(), message: z.string() })
      .optional()
      .describe('Of a form that was not taken: what its sender was told'),
    executionId: id.optional().describe('The invocation that sent it, if a lambda of this platform did'),
    sender: z
      .object({
        lambdaId: id,
        lambdaName: z.string(),
        event: z.string().optional().describe('What the lambda was called with'),
        crmOid: z.string().optional().describe('Its `CRM_OID`'),
      })
      .optional(),
  }),
  DeletedLeads: z.object({ deleted: z.int().describe('How many there were') }),
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
    runs: z.array(z.object(codeToRun)).optional().describe('What of the code in it runs from now on'),
    commit: z.int().optional().describe('Sequence number of the one commit; absent when nothing was changed'),
  }),
  LogPage: z.object({
    lines: z.array(logLine).describe('Oldest first'),
    cursor: z.string().describe('For `after` in the next request'),
    hasGap: z.boolean().describe('Lines have gone before they could be read'),
  }),
  Invocation: z.object({
    executionId: id,
    lambdaId: id,
    lambdaName: z.string(),
    trigger: z.enum(['gateway', 'async', 'event', 'move', 'manual']),
    cold: z.boolean().describe('A process had to be made ready'),
    acceptedAt: time,
    startedAt: time.optional().describe('When the handler began; absent if it never did'),
    finishedAt: time,
    durationMs: z.int(),
    outcome: z.object({
      ok: z.boolean(),
      failure: z.string().optional().describe('Kind of failure, such as `error` or `timeout`'),
      message: z.string().optional(),
      result: z
        .unknown()
        .optional()
        .describe('What the handler gave back, or the second argument of a failed callback'),
    }),
    logs: z.array(logLine),
    outbound: z
      .array(
        z.object({
          startedAt: time,
          method: z.string(),
          url: z.string(),
          durationMs: z.number(),
          status: z.int().optional(),
          error: z.string().optional(),
          caughtBy: z.enum(['crm']).optional(),
          request: outboundBody.optional().describe('Absent when it had no body'),
          response: outboundBody.optional(),
          rules: z
            .array(z.object({ id: z.string(), text: z.string() }))
            .optional()
            .describe('Rules about outbound calls that decided about it'),
        }),
      )
      .describe('HTTP calls that the lambda made'),
  }),
};
