import type { IncomingMessage } from 'node:http';
import type { Config } from '../config-schema.ts';
import { baseUrlOf } from '../http/addresses.ts';
import { urlOf } from './listeners.ts';

/** Where the platform's services are; no address has a slash at its end. */
export interface ServiceAddresses {
  baseUrl: string;
  metaUrl: string;
  securityUrl: string;
  gatewayUrl: string;
}

/** The platform's own addresses: the public ones that are configured, else where it listens, once it does. */
export class Addresses {
  readonly #config: Config;
  #baseUrl: string;
  #gatewayUrl: string;

  constructor(config: Config) {
    this.#config = config;
    this.#baseUrl = urlOf(config.host, config.basePort);
    this.#gatewayUrl = urlOf(config.host, config.gatewayPort);
  }

  /** The control plane listens. */
  settleBase(port: number): void {
    this.#baseUrl = urlOf(this.#config.host, port);
  }

  /** The gateway listens. */
  settleGateway(port: number): void {
    this.#gatewayUrl = urlOf(this.#config.host, port);
  }

  /** As anybody may know them. */
  readonly ours = (): ServiceAddresses => this.#below(this.#config.publicBaseUrl ?? this.#baseUrl);

  /** As the client of a request reached us (D-011). */
  readonly seenBy = (request: IncomingMessage): ServiceAddresses =>
    this.#below(baseUrlOf(request, this.#config.publicBaseUrl, this.#baseUrl));

  #below(baseUrl: string): ServiceAddresses {
    return {
      baseUrl,
      metaUrl: `${baseUrl}/meta`,
      securityUrl: `${baseUrl}/security`,
      gatewayUrl: this.#config.publicGatewayUrl ?? this.#gatewayUrl,
    };
  }
}
