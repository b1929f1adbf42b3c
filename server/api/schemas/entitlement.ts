import { z } from 'zod';
import { PlatformError } from '../../model/errors.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import { parseWith } from '../../model/rules/validate.ts';
import { object } from './parts.ts';

/** An entitlement as clients send it (D-074): identities are ids or links. Other members are ignored. */
export const entitlementRequest = object('EntitlementRequest', {
  id: z.guid('must be a UUID').optional(),
  name: z.string().optional(),
  properties: z.strictObject(
    {
      parent: z.unknown().optional().describe('Set by the server; ignored (D-028)'),
      action: z.string('is required: noun.verb, e.g. container.view').describe('For example `container.view`'),
      identities: z.array(
        z.union(
          [z.guid(), z.object({ id: z.guid() }).transform((link) => link.id)],
          'must be an id or a link of a user or group',
        ),
        'is required: an array of ids of users or groups',
      ),
      value: z.custom<Json>().optional(),
    },
    'is required: {action, identities}',
  ),
});
export type WrittenEntitlement = z.output<typeof entitlementRequest>;

export function readEntitlement(input: Json | undefined): WrittenEntitlement {
  return parseWith(entitlementRequest, input);
}

export function readNewEntitlement(input: Json | undefined): WrittenEntitlement {
  if (!isJsonObject(input)) throw new PlatformError('invalid_body', 'send {"properties": {"action", "identities"}}');
  return readEntitlement(input);
}
