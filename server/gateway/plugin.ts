import manifest from '../../package.json' with { type: 'json' };
import { plugin, slot } from '../plugin/plugin.ts';
import { authenticators, authorizers, exchangeEnded, invokers, resourceChanged } from '../plugin/tokens.ts';
import type { ContainerProxy } from './container-proxy.ts';
import { gateway as declaration } from './declaration.ts';
import { Gateway } from './gateway.ts';

export const containerProxies = slot<ContainerProxy>('container proxy');

export const gatewayPlugin = plugin({
  declaration,
  start(platform) {
    const { config, addresses, allowedHosts, onFault } = platform;
    const gateway = new Gateway({
      view: platform.store.view,
      invoker: platform.slot(invokers),
      authenticator: platform.slot(authenticators),
      authorizer: platform.slot(authorizers),
      results: platform.logs.results,
      containers: platform.slot(containerProxies),
      addresses: addresses.serviceAddresses,
      nowMs: platform.fineMs,
      steadyMs: platform.clock.lifetimeMs,
      faults: platform.faults,
      version: manifest.version,
      allowedHosts,
      limits: config.limits,
      onFault,
      onExchange: (exchange) => platform.emit(exchangeEnded, exchange),
    });
    for (const collection of ['apis', 'apiendpoints', 'providers'] as const)
      platform.on(resourceChanged(collection), (change) => gateway.changed(change));
    platform.onListening(async () => {
      const { port, conflict } = await gateway.start({ host: config.host, port: config.gatewayPort });
      if (conflict) {
        platform.warn(
          `${conflict}. Programs that connect to localhost:${port} may reach another program there. Use 127.0.0.1:${port}, or choose another --gateway-port.`,
        );
      }
      // Before the control plane stops: lambdas that end meanwhile may need it.
      platform.onStop(() => gateway.stop());
      platform.listensAt(port);
    });
    return gateway;
  },
});
