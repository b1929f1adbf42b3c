import { z } from 'zod';
import type { TypeWord } from '../model/type-words.ts';
import { named } from './named.ts';

/** An id in an answer: of any version of RFC 9562 or none, since clients may choose ids (D-030). */
export const id = z.guid();
/** A moment in an answer: ISO 8601, UTC. */
export const time = z.iso.datetime();
/** A trace (W3C trace context). */
export const traceId = z
  .string()
  .regex(/^[0-9a-f]{32}$/)
  .describe('The trace that it belongs to (W3C trace context)');
/** How many, and how large. */
export const count = z.int().min(0);

/** Lambdas by the id in a path. */
export const A_LAMBDA = { id: 'lambda_id', of: ['lambdas'] } as const satisfies Target;
/** What has instances. */
export const A_WORKLOAD = { id: 'container_id', of: ['containers', 'jobs'] } as const satisfies Target;

interface Target {
  id: string;
  of: readonly TypeWord[];
}

/** What runs because of a change of the world (D-215). */
export const codeToRun = z.object({
  type: z.string().describe('Word of the type, such as `lambdas`'),
  path: z.string().describe('Names from the root organization down'),
  reasons: z.array(z.string()).describe('What makes it run, such as `endpoint /acme/site/hello`'),
});

/** A line of a log. */
export const logLine = z.object({
  at: time,
  stream: z.enum(['stdout', 'stderr']),
  text: z.string(),
  executionId: id.optional(),
});
export type ShownLine = z.output<typeof logLine>;

/** A body as it was kept: text, or base64 of what is none. */
export const recordedBody = z.object({
  sizeBytes: z.int(),
  isCut: z.boolean().optional().describe('Only its beginning was kept'),
  text: z.string().optional(),
  base64: z.string().optional(),
});
export type RecordedBody = z.output<typeof recordedBody>;

/** A key pair as it is answered once (D-173). */
export const apiKey = named(
  'ApiKey',
  z.object({
    apiKey: id.describe('User name of Basic authentication'),
    apiSecret: z.string().describe('Its password; shown only here'),
    accountId: id,
    disabled: z.boolean(),
  }),
);
