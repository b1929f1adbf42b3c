import { Router } from 'express';
import { PlatformError } from '../model/errors.ts';
import { owningOrganization } from '../model/hierarchy.ts';
import { parseUuid } from '../model/ids.ts';
import type { Json } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { directoryId } from './account-forms.ts';
import { type SecurityOptions, SecurityRequest } from './security-request.ts';

/** Organizations with their accounts and groups, as the security service shows them (D-178, D-179). */
export function organizationRoutes(options: SecurityOptions): Router {
  const { view } = options;
  const router = Router({ caseSensitive: true });

  router.get('/orgs', (http, res) => {
    const request = new SecurityRequest(options, http);
    const visible = request.visible(request.caller(), 'org.view', view.all('orgs'));
    res.json(visible.map((organization) => request.forms.organization(organization)));
  });

  router.get('/orgs/current', (http, res) => {
    const request = new SecurityRequest(options, http);
    res.json(request.forms.organization(owningOrganization(view, request.self())));
  });

  router.get('/directories/:id/accounts', (http, res) => {
    const request = new SecurityRequest(options, http);
    request.caller();
    res.json(accountsIn(request, directoryOwner(request)));
  });

  router.get('/directories/:id/groups', (http, res) => {
    const request = new SecurityRequest(options, http);
    request.caller();
    res.json(groupsIn(request, directoryOwner(request)));
  });

  router.get('/:fqon', (http, res) => {
    const request = new SecurityRequest(options, http);
    res.json(request.forms.organization(visibleOrganization(request)));
  });

  router.get('/:fqon/accounts', (http, res) => {
    const request = new SecurityRequest(options, http);
    request.caller();
    res.json(accountsIn(request, request.organization()));
  });

  router.get('/:fqon/groups', (http, res) => {
    const request = new SecurityRequest(options, http);
    request.caller();
    res.json(groupsIn(request, request.organization()));
  });

  router.get('/:fqon/directories', (http, res) => {
    const request = new SecurityRequest(options, http);
    res.json([request.forms.directory(visibleOrganization(request))]);
  });

  router.get('/:fqon/accountStores', (http, res) => {
    const request = new SecurityRequest(options, http);
    res.json([request.forms.accountStore(visibleOrganization(request))]);
  });

  function visibleOrganization(request: SecurityRequest): StoredResource {
    const caller = request.caller();
    const organization = request.organization();
    request.demand(caller, 'org.view', organization);
    return organization;
  }

  /** The organization whose built-in directory the path names; throws 404 when there is none. */
  function directoryOwner(request: SecurityRequest): StoredResource {
    const id = parseUuid(request.segment('id'));
    const owner = view.all('orgs').find((organization) => directoryId(organization) === id);
    if (!owner) throw new PlatformError(404, `directory ${id} not found`);
    return owner;
  }

  function accountsIn(request: SecurityRequest, organization: StoredResource): Json[] {
    const users = request.visible(request.caller(), 'user.view', view.ownedBy(organization.id, 'users'));
    return users.map((user) => request.forms.account(user));
  }

  function groupsIn(request: SecurityRequest, organization: StoredResource): Json[] {
    const groups = request.visible(request.caller(), 'group.view', view.ownedBy(organization.id, 'groups'));
    return groups.map((group) => request.forms.group(group));
  }

  return router;
}
