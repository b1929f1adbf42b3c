import { z } from 'zod';
import { created, type Operation, ref, rowsOf } from './operation.ts';

/** What the window sends for a key pair. */
export const keySchemas = {
  KeyWish: z.strictObject({
    userId: z.uuid(),
    orgId: z.uuid().optional().describe('The organization it is for; that of the account unless given'),
  }),
};

/** Key pairs for those who are signed in without one. */
export const keyOperations: readonly Operation[] = [
  rowsOf('Window')('post /inspect/access/keys', 'makeApiKey', 'A key pair for an account', {
    description:
      'As `POST /security/accounts/{id}/apiKeys`, but any way to authenticate is good enough. The secret is in this answer only.',
    body: { schema: ref('KeyWish') },
    success: created(ref('ApiKey')),
    errors: [403, 404],
  }),
];
