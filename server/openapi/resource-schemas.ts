import { z } from 'zod';

const id = z.uuid();
const time = z.iso.datetime().describe('ISO-8601, UTC, with milliseconds');

const Link = z
  .object({
    typeId: id,
    id,
    name: z.string().optional(),
    href: z.url(),
    properties: z.object({ fqon: z.string() }).optional().describe('On links of organizations'),
  })
  .describe('How one resource mentions another');

const EntitlementProperties = z.object({
  action: z.string().describe('`noun.verb`, e.g. `container.view`'),
  identities: z
    .array(z.union([id, z.looseObject({ id })]))
    .describe('Users and groups: ids or links on write, links on read'),
  value: z.unknown().optional(),
});

const pointer = z.string().regex(/^\//).describe('JSON Pointer, e.g. `/properties/env`');

const code = z.int().describe('The HTTP status');

/**
 * What the resource service answers, and what it is sent, besides the records of its types. These forms are made by hand in
 * the service, so there is no schema of theirs to take; the journeys in e2e hold real answers against them.
 */
export const resourceSchemas = {
  /** D-020 */
  Link,
  /** D-025 */
  Created: z.object({ typeId: id, id, timestamp: time }).describe('By which user, and when'),
  Modified: z.object({ action: z.enum(['create', 'update']), user: id, timestamp: time }),
  /** D-180 */
  Error: z.object({
    code,
    message: z.string().describe('What happened, where, and what to do next'),
    details: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
    executionId: id.optional().describe('From the gateway, where a lambda ran'),
  }),
  /** D-090 */
  PatchDocument: z
    .array(
      z.union([
        z.object({ op: z.enum(['add', 'replace', 'test']), path: pointer, value: z.unknown() }),
        z.object({ op: z.literal('remove'), path: pointer }),
        z.object({ op: z.enum(['move', 'copy']), path: pointer, from: pointer }),
      ]),
    )
    .meta({ examples: [[{ op: 'replace', path: '/description', value: 'as patched' }]] })
    .describe('JSON Patch (RFC 6902): all operations in order, or none'),
  /** D-074 */
  EntitlementProperties,
  Entitlement: z
    .looseObject({ id: id.optional(), name: z.string().optional(), properties: EntitlementProperties })
    .describe('Who may do one action on one resource and all below it'),
  /** D-015 */
  Health: z.object({
    status: z.enum(['healthy', 'unhealthy']),
    message: z.string().optional(),
    failed: z.array(z.string()).optional().describe('What does not work, one sentence each'),
    version: z.string().optional(),
    services: z.record(z.string(), z.string()).optional(),
  }),
  About: z.object({
    status: z.string(),
    url: z.url(),
    time,
    version: z.string(),
    services: z.record(z.string(), z.string()),
  }),
  Context: z.object({
    organization: Link,
    workspace: Link.optional(),
    environment: Link.optional(),
    resource: Link.optional(),
  }),
  /** D-112 */
  Env: z.record(z.string(), z.string()).describe('Environment variables by name'),
  /** D-006, D-084 */
  ReferenceEntry: z.looseObject({ id, name: z.string() }),
  TypeProperty: z.object({
    name: z.string(),
    data_type: z.unknown(),
    requirement_type: z.enum(['required', 'optional']),
  }),
  /** D-067 */
  Initialized: z.object({ status: z.literal('initialized'), providers: z.array(Link) }),
};
