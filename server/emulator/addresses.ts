import type { IncomingMessage } from 'node:http';
import type { Config } from '../config-schema.ts';
import { baseUrlOf } from '../http/addresses.ts';
import { WINDOW_HOST } from '../model/window-host.ts';
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
  #windowUrl: string | undefined;

  constructor(config: Config) {
    this.#config = config;
    this.#baseUrl = urlOf(config.host, config.basePort);
    this.#gatewayUrl = urlOf(config.host, config.gatewayPort);
  }

  /**
   * The control plane listens.
   *
   * @param isNamed does whoever asks for the window's name reach it, and nobody else?
   */
  settleBase(port: number, isNamed: boolean): void {
    this.#baseUrl = urlOf(this.#config.host, port);
    this.#windowUrl = isNamed ? urlOf(WINDOW_HOST, port) : undefined;
  }

  /** The gateway listens. */
  settleGateway(port: number): void {
    this.#gatewayUrl = urlOf(this.#config.host, port);
  }

  /** As anybody may know them. */
  readonly ours = (): ServiceAddresses => this.#below(this.#config.publicBaseUrl ?? this.#baseUrl);

  /** Where this very process listens, whatever it is called from outside. */
  get listening(): string {
    return this.#baseUrl;
  }

  /** Where the gateway of this very process listens. */
  get localGatewayUrl(): string {
    return this.#gatewayUrl;
  }

  /** Where the window is, without its path: under its own name where that leads here (D-214). */
  readonly window = (): string => this.#config.publicBaseUrl ?? this.#windowUrl ?? this.#baseUrl;

  /** An address of the window that signs in with a code. */
  readonly windowWith = (code: string): string => `${this.window()}/ui/?code=${code}`;

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
