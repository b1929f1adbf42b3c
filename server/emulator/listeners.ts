import type { Config } from '../config-schema.ts';
import { canonicalHost } from '../model/host-names.ts';
import type { CoreConfig } from '../resources/core.ts';

/** An address that works from this machine: a listener on all addresses is reached on the loopback one. */
export function urlOf(host: string, port: number, scheme = 'http'): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Host names that requests may name besides the loopback ones: what is configured. */
export function hostsOf(config: Config): ReadonlySet<string> {
  const urls = [config.publicBaseUrl, config.publicGatewayUrl].filter((url) => url !== undefined);
  const names = [config.host, ...config.allowedHosts, ...urls.map((url) => new URL(url).host)];
  return new Set(names.map(canonicalHost));
}

/** What of the configuration decides how records are made and shown. */
export function coreConfigOf(config: Config): CoreConfig {
  const { typePrefix, limits, allowedHostPaths } = config;
  return { typePrefix, laws: { limits, allowedHostPaths, ownHosts: hostsOf(config) } };
}
