import { z } from 'zod';
import { named } from './named.ts';
import { id } from './parts.ts';
import { SEES_ALL } from './right.ts';
import { json, ok, rowsOf } from './row.ts';

const headers = z.array(z.tuple([z.string().max(256), z.string().max(8_192)])).max(100);

const requestToSend = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']),
  path: z
    .string()
    .regex(/^\/(?!\/)/, 'begins with one /')
    .max(8_192)
    .describe('Behind the gateway, with its query'),
  headers: headers.optional(),
  body: z.string().optional(),
  asMe: z.boolean().optional().describe('With the credentials of the one who asks; else without any'),
  as: id.optional().describe('Signed in as that user, for this one request; for the root user'),
});
export type RequestToSend = z.output<typeof requestToSend>;

const answerOfRequest = named(
  'AnswerOfRequest',
  z.object({
    status: z.int(),
    headers,
    body: z.string().describe('As text, the first 256 KiB of it'),
    isCut: z.literal(true).optional(),
    durationMs: z.number(),
    executionId: id.optional().describe('Of the invocation that answered'),
  }),
);

/** Requests to public endpoints that the window makes for its user: a browser lets it ask nobody but the platform itself. */
export const sendingRows = rowsOf('Window', {
  sendRequest: {
    route: 'post /inspect/requests',
    summary: 'Send a request to a public endpoint',
    description:
      'It goes through the gateway like any other. Redirects are not followed. The token that it was sent with is hidden in the answer; ' +
      'that of another user is good for this one request.',
    right: SEES_ALL,
    body: json(named('RequestToSend', requestToSend)),
    answer: ok(answerOfRequest),
    errors: [404, 502],
  },
});
