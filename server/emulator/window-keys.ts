import type { KeyMaker } from '../inspector/key-routes.ts';
import { invalid } from '../model/errors.ts';
import { ORGANIZATION, owningOrganization } from '../model/hierarchy.ts';
import type { WorldView } from '../model/world-view.ts';
import { isUsableIn } from '../security/accounts.ts';
import type { Credentials } from '../security/credentials.ts';

/** How the window comes by key pairs: by the rules of the security service. */
export function windowKeys(view: WorldView, credentials: Credentials): KeyMaker {
  return {
    async create(accountId, orgId) {
      const user = view.find(accountId);
      if (!user) throw invalid('/userId', `names no user: ${accountId}`);
      const organization = orgId === undefined ? owningOrganization(view, user) : view.find(orgId);
      if (organization?.type !== ORGANIZATION) throw invalid('/orgId', `names no organization: ${orgId}`);
      if (!isUsableIn(view, user, organization)) {
        throw invalid('/orgId', `names an organization where account '${user.name}' does not exist: ${orgId}`);
      }
      const { key, secret } = await credentials.createKey(user.id, organization.id);
      return { apiKey: key, apiSecret: secret, accountId: user.id, disabled: false };
    },
  };
}
