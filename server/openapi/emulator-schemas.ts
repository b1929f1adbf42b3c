import { z } from 'zod';

const id = z.uuid();

/** What the gateway's own routes (D-164..D-167) and those of the emulator (D-191, D-200) are sent and answer. */
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
};
