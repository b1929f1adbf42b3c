import manifest from '../../../package.json' with { type: 'json' };
import { type Change, type Commit, proofOf } from '../../model/commit.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { USER } from '../../model/type-names.ts';
import { plugin, slot } from '../../plugin/plugin.ts';
import { isLoopbackHost } from '../../plugin/reachable-url.ts';
import { authenticators, authorizers, committed, resourceChanged } from '../../plugin/tokens.ts';
import { AttemptLimiter } from './attempt-limiter.ts';
import { createAuthenticator } from './authenticator.ts';
import { Credentials } from './credentials.ts';
import { security } from './declaration.ts';
import { createAuthorizer } from './entitlements.ts';
import { isPublished, type RandomPasswords, verifySignIn } from './passwords.ts';
import type { SecurityOptions } from './security-parts.ts';
import { WindowSessions } from './window-sessions.ts';

/** Drawn for users without a password of their own. */
export const randomPasswords = slot<RandomPasswords>('random passwords');
/** Loads what serves the routes that change accounts and groups. */
export const accountRouters = slot<() => Promise<SecurityOptions['accountChanges']>>('routes of accounts');

export const securityPlugin = plugin({
  declaration: security,
  async start(platform) {
    const { config, logs, addresses, nowMs, clock, onFault } = platform;
    const steadyMs = clock.lifetimeMs;
    const { view } = platform.store;
    const { tokenLifetimeS, tokenRequestsPerMinute } = config.limits;
    const tokenLifetimeMs = tokenLifetimeS * 1000;
    const { 'api-keys': keys, tokens } = logs;
    const credentials = new Credentials({ keys, tokens, nowMs, steadyMs, tokenLifetimeMs });
    const authenticator = createAuthenticator(view, credentials);
    const authorizer = createAuthorizer(view);
    platform.fill(authenticators, authenticator);
    platform.fill(authorizers, authorizer);
    await credentials.removeOrphaned((id) => view.find(id) !== undefined);
    // Outside the world, because it must survive deletions and the trimming of the history.
    const accountLog = logs['past-accounts'];
    const noteAccount = async ({ id, name }: StoredResource) => {
      if (!accountLog.get(id)) await accountLog.put(id, { name });
    };
    // Also those of a world that is older than this log, or whose last commit was not noted before it ended.
    await Promise.all(view.all('users').map(noteAccount));
    platform.on(committed, ({ commit, changes }) => endCredentials(credentials, view, commit, changes));
    platform.on(resourceChanged('users'), ({ after }) => after && noteAccount(after));

    /** Can other machines connect? Then published passwords are not accepted. */
    const isOpen = !isLoopbackHost(config.host);
    const signIns = {
      attempts: new AttemptLimiter(tokenRequestsPerMinute, steadyMs),
      async isPassword(password: string, user: StoredResource | undefined) {
        const stored = user?.properties.password;
        const isRight = await verifySignIn(password, typeof stored === 'string' ? stored : undefined);
        return isRight && !(isOpen && isPublished(password));
      },
    };
    platform.mount('/security', async () => {
      const [{ securityRouter }, accountChanges] = await Promise.all([
        import('./routes.ts'),
        platform.slot(accountRouters)(),
      ]);
      return securityRouter({
        view,
        credentials,
        authenticator,
        authorizer,
        accountChanges,
        prefix: config.typePrefix,
        addresses: addresses.seenBy,
        version: manifest.version,
        nowMs,
        ...signIns,
        keyAttempts: new AttemptLimiter(tokenRequestsPerMinute, steadyMs),
        onFault,
      });
    });
    const sessions = new WindowSessions(
      { view, credentials, ...signIns },
      { nowMs, steadyMs },
      logs['window-sessions'],
    );
    const settle = async () => void (await Promise.all([credentials.settle(), sessions.settle()]));
    await settle();
    // A disk without space is reported by the logs themselves.
    platform.onStop(() => settle().catch(() => undefined));
    return {
      credentials,
      authenticator,
      authorizer,
      passwords: platform.slot(randomPasswords),
      sessions,
      /** Was an id ever an account's? Old references to it must never mean a new account (D-030). */
      wasAccount: (id: Uuid) => accountLog.get(id) !== undefined,
    };
  },
});

/** Ends all credentials of deleted accounts; after another password all tokens but the one that set it; after a reset also keys (D-072, D-216). */
async function endCredentials(
  credentials: Credentials,
  view: WorldView,
  { cause }: Commit,
  changes: readonly Change[],
): Promise<void> {
  const isReset = cause.action === 'world.reset';
  const { tokenId: keptId } = proofOf(cause);
  const endings = changes.flatMap(({ before, after }) => {
    if (before?.type !== USER || before.properties.password === after?.properties.password) return [];
    return after && !isReset ? credentials.endTokensOf(before.id, keptId) : credentials.forgetUser(before.id);
  });
  if (isReset) endings.push(credentials.endTokensOf(view.root.owner, keptId));
  await Promise.all(endings);
}
