import type { Router } from 'express';
import { accountRows } from '../contract/security.ts';
import { serve } from '../http/serve.ts';
import type { SecurityParts } from './security-parts.ts';

const { readOwnAccount, readAccount, readAccountGroup } = accountRows;

/** Accounts and groups as they are (D-178, D-179); changed they are where users and groups live (`SecurityOptions.accountChanges`). */
export function accountRoutes({ gate, finders, forms, self }: SecurityParts): Router {
  return serve(
    { readOwnAccount, readAccount, readAccountGroup },
    gate,
    {
      readOwnAccount: ({ caller, req }) => forms(req).account(self(caller)),
      readAccount: ({ resource, req }) => forms(req).account(resource),
      readAccountGroup: ({ resource, req }) => forms(req).group(resource),
    },
    finders,
  );
}
