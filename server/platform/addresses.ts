import type { IncomingMessage } from 'node:http';
import { baseUrlOf } from '../api/server/host-guard.ts';
import { canonicalHost, WINDOW_HOST } from '../model/host-names.ts';
import type { PlatformAddresses, ServiceAddresses } from '../plugin/plugin.ts';
import { reachableUrl } from '../plugin/reachable-url.ts';
import type { Config } from './config-schema.ts';
import { type ListenerName, type ListenerUrls, listeners } from './declarations.ts';

/** The platform's addresses: the configured public ones, otherwise where it listens, once it does. */
export class Addresses implements PlatformAddresses {
  readonly #config: Config;
  readonly #local: Map<string, string>;
  #windowUrl: string | undefined;

  constructor(config: Config) {
    this.#config = config;
    this.#local = new Map(
      listeners.map(({ name, port, scheme }) => [name, reachableUrl(config.host, config[port], scheme)]),
    );
  }

  readonly resolve = (name: string, port: number): void => {
    const scheme = listeners.find((listener) => listener.name === name)?.scheme ?? 'http';
    this.#local.set(name, reachableUrl(this.#config.host, port, scheme));
  };

  /** Sets the port of the control plane. @param isNamed true if the window's name leads to it, and to nothing else */
  resolveBase(port: number, isNamed: boolean): void {
    this.resolve('base', port);
    this.#windowUrl = isNamed ? reachableUrl(WINDOW_HOST, port, 'http') : undefined;
  }

  local(name: ListenerName): string {
    return this.#local.get(name) ?? '';
  }

  readonly serviceAddresses = (): ServiceAddresses => this.#below(this.#config.publicBaseUrl ?? this.local('base'));

  readonly all = (): ServiceAddresses & ListenerUrls => ({
    ...(Object.fromEntries(listeners.map(({ name, url }) => [url, this.local(name)])) as ListenerUrls), // has each of them
    ...this.serviceAddresses(),
  });

  /** The window's address without its path: under its own name if that leads here (D-214). */
  readonly window = (): string => this.#config.publicBaseUrl ?? this.#windowUrl ?? this.local('base');

  readonly windowWith = (code: string): string => `${this.window()}/ui/?code=${code}`;

  readonly seenBy = (request: IncomingMessage): ServiceAddresses =>
    this.#below(baseUrlOf(request, this.#config.publicBaseUrl, this.local('base')));

  #below(baseUrl: string): ServiceAddresses {
    return {
      baseUrl,
      metaUrl: `${baseUrl}/meta`,
      securityUrl: `${baseUrl}/security`,
      gatewayUrl: this.#config.publicGatewayUrl ?? this.local('gateway'),
    };
  }
}

/** Configured host names that requests may name besides the loopback ones. */
export function hostsOf(config: Config): ReadonlySet<string> {
  const urls = [config.publicBaseUrl, config.publicGatewayUrl].filter((url) => url !== undefined);
  const names = [config.host, ...config.allowedHosts, ...urls.map((url) => new URL(url).host)];
  return new Set(names.map(canonicalHost));
}
