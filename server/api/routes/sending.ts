import { z } from 'zod';
import { id, named, object } from '../schemas/parts.ts';
import { defineRoutes, json, noContent, ok, route, SEES_ALL } from './route.ts';

const MAX_BODY_CHARACTERS = 256 * 1024;
const headers = z.array(z.tuple([z.string().max(256), z.string().max(8_192)])).max(100);

const requestParts = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']),
  path: z
    .string()
    .regex(/^\/([^/]|$)/, 'begins with one /')
    .max(8_192)
    .describe('Path on the gateway, with the query'),
  headers: headers.optional(),
  body: z.string().optional(),
  asMe: z.boolean().optional().describe('Send the credentials of the caller; otherwise none'),
  as: id.optional().describe('Sign this request in as this user; for the root user'),
});
const requestToSend = requestParts.extend({
  replayOf: z.int().nonnegative().optional().describe('The number of the rejected request that it repeats'),
});
export type RequestToSend = z.output<typeof requestToSend>;

const savedRequest = requestParts.extend({
  name: z.string().trim().min(1).max(80),
  body: z.string().max(MAX_BODY_CHARACTERS).optional(),
});
export type SavedRequest = z.output<typeof savedRequest>;

const savedRequests = object('SavedRequests', { requests: z.array(savedRequest) });

const answerOfRequest = object('AnswerOfRequest', {
  status: z.int(),
  headers,
  body: z.string().describe('The first 256 KiB as text'),
  isCut: z.literal(true).optional(),
  durationMs: z.number(),
  executionId: id.optional().describe('The invocation that produced the response'),
});

/** Requests from the window to public endpoints: the window can only call the platform itself. */
export const sendingRoutes = defineRoutes('Window', {
  sendRequest: route('post /inspect/requests', SEES_ALL, {
    summary: 'Send a request to a public endpoint',
    description:
      'The request goes through the gateway like any other. Redirects are not followed. The token of the request is hidden in the ' +
      'response; a token for another user is valid for this request only.',
    body: json(named('RequestToSend', requestToSend), { method: 'GET', path: '/website/orders/1001' }),
    answer: ok(answerOfRequest),
    errors: [404, 502],
  }),
  listSavedRequests: route('get /inspect/saved-requests', SEES_ALL, {
    summary: 'List saved requests',
    description: 'Saved requests belong to the platform: all users who can send requests see the same ones.',
    answer: ok(savedRequests),
  }),
  saveRequest: route('post /inspect/saved-requests', SEES_ALL, {
    summary: 'Save a request under a name',
    body: json(
      named(
        'RequestToSave',
        savedRequest.extend({
          replaces: z
            .boolean()
            .optional()
            .describe('Replace the request with this name; otherwise a taken name returns 409'),
        }),
      ),
      { name: 'order', method: 'GET', path: '/website/orders/1001' },
    ),
    answer: ok(named('SavedRequest', savedRequest)),
    errors: [409],
  }),
  deleteSavedRequest: route('delete /inspect/saved-requests/{request_name}', SEES_ALL, {
    summary: 'Delete a saved request',
    answer: noContent,
  }),
});
