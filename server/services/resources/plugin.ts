import manifest from '../../../package.json' with { type: 'json' };
import type { Uuid } from '../../model/record.ts';
import { isGateway } from '../../model/types/provider-rules.ts';
import { event, plugin, slot } from '../../plugin/plugin.ts';
import { committed, invokers, resourceChanged } from '../../plugin/tokens.ts';
import { accountRouters, securityPlugin } from '../security/plugin.ts';
import { systemActor } from './actor.ts';
import { type ContainerStatusProvider, coreConfigOf, createControlPlaneServices } from './control-plane.ts';
import { resources } from './declaration.ts';
import { ensureRootAccount, type RootAccount, replacePublishedPasswords } from './root-account.ts';
import { resourceRouter } from './routes.ts';
import type { PlatformStatus } from './status-routes.ts';

/** A lambda's package is to be fetched again (D-057). */
export const packageNamed = event<Uuid>('package named');
export const containerStatuses = slot<ContainerStatusProvider>('status of containers');
export const passwordHashes = slot<(password: string) => Promise<string>>('password hash');
export const platformStatuses = slot<() => PlatformStatus>('status of the platform');

/** The secret of root's API key. What follows from it stays the same after a restart, and only root can know it. */
export const rootSecret = slot<() => string>('root secret');

/** The resource service: all changes of the world go through it. */
export const resourcesPlugin = plugin({
  declaration: resources,
  needs: { security: securityPlugin },
  async start(platform, { security }) {
    const { config, store, addresses, nowMs, warn, onFault } = platform;
    const { view } = store;
    const { credentials, authenticator, passwords } = security;
    const coreConfig = coreConfigOf(config, platform.allowedHosts);
    const core = createControlPlaneServices({
      store,
      config: coreConfig,
      invoker: platform.slot(invokers),
      containers: platform.slot(containerStatuses),
      refetch: (id) => platform.emit(packageNamed, id),
      wasAccount: security.wasAccount,
      hashPassword: platform.slot(passwordHashes),
      addresses: addresses.serviceAddresses,
      nowMs,
      onWarning: warn,
    });
    const { service } = core;
    const actor = () => systemActor(view.root, 'startup');
    await replacePublishedPasswords(service, passwords, config, warn);
    platform.on(committed, ({ commit: { seq } }) => {
      platform.publish('world', { seq });
      platform.publish('history', { seq });
    });
    const followGateway = () => core.defaults.followGateway(actor());
    platform.onListening(followGateway);
    // An earlier state that is restored can have the gateway's address of that time.
    platform.on(resourceChanged('providers'), ({ after }) => after && isGateway(after.type) && followGateway());
    let account: RootAccount | undefined;
    platform.onListening(async () => {
      account = await ensureRootAccount(service, credentials, passwords, { ...config, folder: platform.folder });
    });

    platform.fill(
      rootSecret,
      () => (account && 'apiSecret' in account ? account.apiSecret : config.rootApiSecret) ?? '',
    );
    const router = resourceRouter({
      core,
      authenticator,
      maxInstances: config.limits.maxInstances,
      addressesFor: addresses.seenBy,
      typePrefix: config.typePrefix,
      status: {
        version: manifest.version,
        nowMs,
        status: () => platform.slot(platformStatuses)(),
        baseUrlFor: (req) => addresses.seenBy(req).baseUrl,
      },
      onFault,
    });
    platform.mount('/meta', async () => router);
    platform.fill(accountRouters, async () => {
      const { accountChanges } = await import('./account-routes.ts');
      return (parts) => accountChanges(service, parts);
    });
    platform.routes(async (guard) => {
      const [{ roleRouter }, { accessRouter }] = await Promise.all([
        import('./role-routes.ts'),
        import('../security/access-routes.ts'),
      ]);
      return [roleRouter(service, guard), accessRouter(credentials, passwords, () => account?.apiKey, guard)];
    });
    return {
      core,
      service,
      coreConfig,
      constraints: coreConfig.constraints,
      account(): RootAccount {
        if (!account) throw new Error('the root account is not known before the platform is ready');
        return account;
      },
    };
  },
});
