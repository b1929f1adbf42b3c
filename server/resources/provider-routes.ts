import { providerRows } from '../contract/meta-types.ts';
import type { Served } from '../http/serve.ts';
import { PlatformError } from '../model/errors.ts';
import type { ProviderDefaults } from './provider-defaults.ts';
import type { ResourceRouteParts } from './route-parts.ts';

/** Administration of providers: initialize, redeploy, actions (D-067, D-069). */
export function providerRoutes({ answer }: ResourceRouteParts, defaults: ProviderDefaults): Served[] {
  return answer(providerRows, {
    async initializeProviders({ act, renderer }) {
      const providers = await defaults.initialize(act);
      return { status: 'initialized' as const, providers: providers.map((one) => renderer.link(one)) };
    },
    redeployProvider() {},
    actOnProvider({ query: { action } }) {
      throw new PlatformError(501, `provider action '${action.slice(0, 64)}' is not emulated (D-069)`);
    },
  });
}
