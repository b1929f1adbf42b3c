import { z } from 'zod';
import { may } from '../contract/right.ts';
import { created, type Operation, ref, rowsOf } from './operation.ts';

/** What the window sends for a key pair or a token, and what it is answered. */
export const keySchemas = {
  KeyWish: z.strictObject({
    userId: z.uuid(),
    orgId: z.uuid().optional().describe('The organization it is for; that of the account unless given'),
  }),
  NewToken: z.object({ accessToken: z.string(), accountId: z.uuid(), expiresInS: z.int().min(1) }),
};

/** Key pairs and tokens for those who are signed in without one. */
export const keyOperations: readonly Operation[] = [
  rowsOf('Window')('post /inspect/access/keys', 'makeApiKey', 'A key pair for an account', {
    right: may('user.update', 'userId'),
    description:
      'As `POST /security/accounts/{id}/apiKeys`, but any way to authenticate is good enough. The secret is in this answer only.',
    body: { schema: ref('KeyWish') },
    success: created(ref('ApiKey')),
    errors: [403, 404],
  }),
  rowsOf('Window')('post /inspect/access/tokens', 'makeToken', 'An access token for an account', {
    right: may('user.update', 'userId'),
    description: 'As `POST /security/{fqon}/oauth/issue`, without a password. The token is in this answer only.',
    body: { schema: ref('KeyWish') },
    success: created(ref('NewToken')),
    errors: [403, 404, 409],
  }),
];
