import { z } from 'zod';
import { ERROR_CODES } from '../../model/error-codes.ts';
import { id, named, object } from './parts.ts';

const time = z.iso.datetime().describe('ISO-8601, UTC, with milliseconds');
const pointer = z.string().regex(/^\//).describe('JSON Pointer, e.g. `/properties/env`');
const code = z.int().describe('The HTTP status');
const reason = named('ErrorReason', z.enum(ERROR_CODES).describe('The cause, for programs; the messages can change'));

/** D-020. */
export const link = named(
  'Link',
  z
    .object({
      typeId: id,
      id,
      name: z.string().optional(),
      href: z.url(),
      properties: z.object({ fqon: z.string() }).optional().describe('On links to organizations'),
    })
    .describe('A link to a resource'),
);

/** D-025. */
export const provenance = {
  created: named('Created', z.object({ typeId: id, id, timestamp: time }).describe('User and time')),
  modified: object('Modified', { action: z.enum(['create', 'update']), user: id, timestamp: time }),
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
    .describe('JSON Patch (RFC 6902): all operations in order, or none'),
);

/** A JSON Patch as a body (D-007, D-090). */
export const PATCH_TYPES = ['application/json-patch+json', 'application/json'] as const;

/** D-015. */
export const health = object('Health', {
  status: z.enum(['healthy', 'unhealthy']),
  message: z.string().optional(),
  failed: z.array(z.string()).optional().describe('Failures, one sentence each'),
  version: z.string().optional(),
  services: z.record(z.string(), z.string()).optional(),
});

/** Error formats (D-180, D-171); health has a separate one. */
export const errorForms = {
  PlatformError: object('PlatformError', {
    code,
    reason,
    message: z.string().describe('What failed, why, and what to do next'),
    details: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
    executionId: id.optional().describe('For errors of the gateway after a lambda was invoked'),
  }),
  SecurityError: object('SecurityError', {
    code,
    reason,
    message: z.string(),
    resource: z.string(),
    developerMessage: z.string(),
  }),
  TokenError: object('TokenError', {
    error: z.enum(['invalid_grant', 'invalid_client', 'invalid_request', 'unsupported_grant_type', 'server_error']),
    error_description: z.string(),
    code,
  }),
  Health: health,
};

/** The error format of a path: some requests are refused before their service sees them (D-180). @param path '' if it is unknown */
export function errorFormOf(path: string): 'PlatformError' | 'SecurityError' | 'TokenError' {
  if (/^\/security(\/[^/]+)?\/oauth\/issue\/?$/.test(path)) return 'TokenError';
  return /^\/security(\/|$)/.test(path) ? 'SecurityError' : 'PlatformError';
}
