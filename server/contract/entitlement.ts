import { z } from 'zod';
import { PlatformError } from '../model/errors.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import { parseWith } from '../model/validate.ts';

/** The written form of an entitlement (D-074): identities as ids or links. */
const written = z.object({
  id: z.guid('must be a UUID').optional(),
  name: z.string().optional(),
  properties: z.strictObject(
    {
      parent: z.unknown().optional().describe('Set by the server, ignored (D-028)'),
      action: z.string('is required: noun.verb, e.g. container.view'),
      identities: z.array(
        z.union(
          [z.guid(), z.object({ id: z.guid() }).transform((link) => link.id)],
          'must be an id or a link of a user or group',
        ),
        'is required: an array of ids of users or groups',
      ),
      value: z.json().optional(),
    },
    'is required: {action, identities}',
  ),
});
export type WrittenEntitlement = z.output<typeof written>;

/** Throws 400. */
export function readEntitlement(sent: Json | undefined): WrittenEntitlement {
  return parseWith(written, sent);
}

/** Throws 400. */
export function readNewEntitlement(sent: Json | undefined): WrittenEntitlement {
  if (!isJsonObject(sent)) throw new PlatformError(400, 'send {"properties": {"action", "identities"}}');
  return readEntitlement(sent);
}
