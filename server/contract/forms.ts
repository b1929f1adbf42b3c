import { z } from 'zod';
import { named } from './named.ts';
import { id } from './parts.ts';

const time = z.iso.datetime().describe('ISO-8601, UTC, with milliseconds');
const pointer = z.string().regex(/^\//).describe('JSON Pointer, e.g. `/properties/env`');
const code = z.int().describe('The HTTP status');

/** D-020. */
export const link = named(
  'Link',
  z
    .object({
      typeId: id,
      id,
      name: z.string().optional(),
      href: z.url(),
      properties: z.object({ fqon: z.string() }).optional().describe('On links of organizations'),
    })
    .describe('How one resource mentions another'),
);

/** D-025. */
export const provenance = {
  created: named('Created', z.object({ typeId: id, id, timestamp: time }).describe('By which user, and when')),
  modified: named('Modified', z.object({ action: z.enum(['create', 'update']), user: id, timestamp: time })),
};

/** D-090. */
export const patchDocument = named(
  'PatchDocument',
  z
    .array(
      z.union([
        z.object({ op: z.enum(['add', 'replace', 'test']), path: pointer, value: z.unknown() }),
        z.object({ op: z.literal('remove'), path: pointer }),
        z.object({ op: z.enum(['move', 'copy']), path: pointer, from: pointer }),
      ]),
    )
    .meta({ examples: [[{ op: 'replace', path: '/description', value: 'as patched' }]] })
    .describe('JSON Patch (RFC 6902): all operations in order, or none'),
);

/** A JSON Patch as a body (D-007, D-090). */
export const PATCH_TYPES = ['application/json-patch+json', 'application/json'] as const;

/** D-015. */
export const health = named(
  'Health',
  z.object({
    status: z.enum(['healthy', 'unhealthy']),
    message: z.string().optional(),
    failed: z.array(z.string()).optional().describe('What does not work, one sentence each'),
    version: z.string().optional(),
    services: z.record(z.string(), z.string()).optional(),
  }),
);

/** What refusals look like (D-180, D-171); health refuses in its own form. */
export const errorForms = {
  Error: named(
    'Error',
    z.object({
      code,
      message: z.string().describe('What happened, where, and what to do next'),
      details: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
      executionId: id.optional().describe('From the gateway, where a lambda ran'),
    }),
  ),
  SecurityError: named(
    'SecurityError',
    z.object({ code, message: z.string(), resource: z.string(), developerMessage: z.string() }),
  ),
  TokenError: named(
    'TokenError',
    z.object({
      error: z.enum(['invalid_grant', 'invalid_client', 'invalid_request', 'unsupported_grant_type', 'server_error']),
      error_description: z.string(),
      code,
    }),
  ),
  Health: health,
};
