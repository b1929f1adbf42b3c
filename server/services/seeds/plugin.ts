import { scmPlugin } from '../../mocks/scm/plugin.ts';
import { rewriteScmUrls } from '../../mocks/scm/scm-access.ts';
import { plugin } from '../../plugin/plugin.ts';
import { committed, outboundRules } from '../../plugin/tokens.ts';
import { systemActor } from '../resources/actor.ts';
import { resourcesPlugin } from '../resources/plugin.ts';
import { securityPlugin } from '../security/plugin.ts';

/** Seeds applied to the world and made of it, in which the mock GitLab has its present address. */
export const seedsPlugin = plugin({
  declaration: {},
  needs: { scm: scmPlugin, security: securityPlugin, resources: resourcesPlugin },
  start(platform, { scm, security, resources }) {
    const { store, addresses, nowMs, warn } = platform;
    const followScm = async () => {
      const lambdas = await rewriteScmUrls(store.view, scm.places, scm.access());
      if (lambdas.length === 0) return;
      await resources.service.commit(systemActor(store.view.root, 'startup'), 'lambda.update', lambdas);
    };
    platform.onListening(followScm);
    // An earlier state that is restored can have the address from before the first start.
    platform.on(committed, ({ commit: { cause } }) =>
      /^(archive|history|snapshot)\./.test(cause.action ?? '') ? followScm() : undefined,
    );
    platform.routes(async (guard) => {
      const { seedRouter, worldSeeds } = await import('./world-seeds.ts');
      const { coreConfig: config } = resources;
      const options = {
        store,
        config,
        addresses: addresses.serviceAddresses,
        scm: scm.access,
        randomPasswords: security.passwords,
        outbound: platform.slot(outboundRules),
        nowMs,
        onWarning: warn,
      };
      return [seedRouter(worldSeeds(options), guard)];
    });
  },
});
