import type { KeyMaker } from '../access/access-routes.ts';
import { invalid, PlatformError } from '../model/errors.ts';
import { ORGANIZATION, owningOrganization } from '../model/hierarchy.ts';
import type { Uuid } from '../model/ids.ts';
import type { WorldView } from '../model/world-view.ts';
import { isDisabled, isUsableIn } from '../security/accounts.ts';
import type { Credentials } from '../security/credentials.ts';

/** How the window comes by key pairs and tokens: by the rules of the security service. */
export function windowKeys(view: WorldView, credentials: Credentials): KeyMaker {
  const placeOf = (accountId: Uuid, orgId: Uuid | undefined) => {
    const user = view.find(accountId);
    if (!user) throw invalid('/userId', `names no user: ${accountId}`);
    const organization = orgId === undefined ? owningOrganization(view, user) : view.find(orgId);
    if (organization?.type !== ORGANIZATION) throw invalid('/orgId', `names no organization: ${orgId}`);
    if (!isUsableIn(view, user, organization)) {
      throw invalid('/orgId', `names an organization where account '${user.name}' does not exist: ${orgId}`);
    }
    return { user, organization };
  };
  return {
    async create(accountId, orgId) {
      const { user, organization } = placeOf(accountId, orgId);
      const { key, secret } = await credentials.createKey(user.id, organization.id);
      return { apiKey: key, apiSecret: secret, accountId: user.id, disabled: false };
    },
    async issueToken(accountId, orgId) {
      const { user, organization } = placeOf(accountId, orgId);
      // As the security service does, and not a token that is refused from the start (D-170).
      if (isDisabled(user)) throw new PlatformError(409, `account '${user.name}' is disabled: enable it first`);
      const accessToken = await credentials.issueToken(user.id, organization.id);
      return { accessToken, accountId: user.id, expiresInS: credentials.tokenLifetimeMs / 1000 };
    },
  };
}
