import { Router } from 'express';
import { readForm } from '../http/read-body.ts';
import { actionsOf } from '../model/actions.ts';
import { owningOrganization } from '../model/hierarchy.ts';
import type { JsonObject } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { callerOf, findUser, groupsOf, isDisabled } from './accounts.ts';
import { refuseDuplicates, requiredField } from './form-fields.ts';
import { type SecurityOptions, SecurityRequest } from './security-request.ts';

/** What a token or a caller amounts to: `POST [/{fqon}]/oauth/inspect` (D-176) and `POST [/{fqon}]/auth` (D-177). */
export function inspectionRoutes(options: SecurityOptions): Router {
  const { view, credentials, prefix } = options;
  const router = Router({ caseSensitive: true });

  router.post(['/oauth/inspect', '/:fqon/oauth/inspect'], async (http, res) => {
    const request = new SecurityRequest(options, http);
    request.caller();
    if (request.segment('fqon') !== '') request.organization();
    const form = await readForm(http);
    refuseDuplicates(form);
    const token = requiredField(form, 'token');
    const record = credentials.findToken(token);
    const user = record && findUser(view, record.accountId);
    if (!record || !user || isDisabled(user)) {
      res.json({ active: false });
      return;
    }
    const { account, groups, rights } = standing(request, user, view.find(record.orgId));
    const own = prefix.toLowerCase();
    res.json({
      active: true,
      username: user.name,
      sub: `/accounts/${user.id}`,
      iss: request.securityUrl,
      exp: Math.floor(record.expiresAtMs / 1000),
      iat: Math.floor(record.issuedAtMs / 1000),
      jti: token,
      [`${own}_org_id`]: record.orgId,
      [`${own}_account`]: account,
      [`${own}_groups`]: groups,
      [`${own}_rights`]: rights,
    });
  });

  router.post(['/auth', '/:fqon/auth'], (http, res) => {
    const request = new SecurityRequest(options, http);
    const user = request.self();
    const organization = request.segment('fqon') === '' ? undefined : request.organization();
    res.json(standing(request, user, organization));
  });

  /** The account, its groups, and the actions it may do on the organization itself (its own one if none is given). */
  function standing(request: SecurityRequest, user: StoredResource, organization: StoredResource | undefined) {
    const where = organization ?? owningOrganization(view, user);
    const caller = callerOf(view, user, 'internal');
    return {
      account: request.forms.account(user),
      groups: groupsOf(view, user.id).map((group): JsonObject => request.forms.groupLink(group)),
      rights: [...actionsOf(where)].filter((action) => options.judge.may(caller, action, where.id)),
      orgId: where.id,
    };
  }

  return router;
}
