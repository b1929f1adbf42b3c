import { singleParameter } from '../http/query.ts';
import { PlatformError, rootOnly } from '../model/errors.ts';
import type { ProviderDefaults } from './provider-defaults.ts';
import { ok, type Route } from './request.ts';
import type { ResourceService } from './resource-service.ts';

/** Administration of providers: initialize, redeploy, actions (D-067, D-069). */
export function providerRoutes(service: ResourceService, defaults: ProviderDefaults): Route[] {
  return [
    {
      verb: 'post',
      path: '/root/providers/initialize',
      handle: async (request) => {
        if (!request.act.caller.isRoot) throw rootOnly('provider.create');
        const providers = await defaults.initialize(request.act);
        return ok({ status: 'initialized', providers: providers.map((one) => request.renderer.link(one)) });
      },
    },
    {
      verb: 'post',
      path: '/:fqon/providers/:id/redeploy',
      handle: (request) => {
        service.demand(request.act, 'provider.update', request.resource('providers'));
        return { status: 202 };
      },
    },
    {
      verb: 'post',
      path: '/:fqon/providers/:id',
      handle: (request) => {
        request.resource('providers');
        const action = singleParameter(request.query, 'action');
        if (action === undefined || action === '') throw new PlatformError(400, "query parameter 'action' is required");
        throw new PlatformError(501, `provider action '${action.slice(0, 64)}' is not emulated (D-069)`);
      },
    },
  ];
}
