import type { StartOptions } from './config-schema.ts';

/** A running platform. */
export interface Emulator {
  /** `{base_url}`, without a slash at its end. */
  readonly baseUrl: string;
  /** `{meta_url}`: the resource service. */
  readonly metaUrl: string;
  /** `{security_url}`: the security service. */
  readonly securityUrl: string;
  /** `{gateway_url}`: public endpoints of lambdas and containers. */
  readonly gatewayUrl: string;
  /** The CRM stand-in, https. */
  readonly crmUrl: string;
  /** The folder that keeps the world, or `:memory:`. */
  readonly dataDir: string;
  readonly rootCredentials: RootCredentials;
  /** Where the demo world's web form can be tried, if that world was seeded. */
  readonly tour?: { leadUrl?: string };
  /** Lets running requests and invocations end, saves, and closes everything. Calling it again waits for the same end. */
  stop(): Promise<void>;
}

/** How root signs in (D-175). */
export interface RootCredentials {
  username: string;
  /** Absent when it was configured or changed: then only its owner knows it. */
  password?: string;
  apiKey: string;
  /** Absent when it is not to be shown. */
  apiSecret?: string;
  /** Where the pair is kept for its owner's eyes only. */
  apiSecretFile?: string;
  /** Was the pair made by the emulator (as opposed to configured)? */
  generated: boolean;
}

/** Starts a platform. */
export async function startEmulator(_options: StartOptions = {}): Promise<Emulator> {
  throw new Error('the rooms are not wired yet');
}
