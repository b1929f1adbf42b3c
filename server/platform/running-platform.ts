// The public type of a running platform. Only types: the build makes declarations from this file (scripts/build-types.mjs).

/** Messages that need no action. */
export interface TerrariumHooks {
  onWarning?(message: string): void;
  /** A fault of the emulator itself: the client saw a bare 500. */
  onFault?(fault: unknown): void;
}

/** A running platform. */
export interface RunningPlatform {
  /** `{base_url}`, without a slash at its end. */
  readonly baseUrl: string;
  /** `{meta_url}`: the resource service. */
  readonly metaUrl: string;
  /** `{security_url}`: the security service. */
  readonly securityUrl: string;
  /** `{gateway_url}`: public endpoints of lambdas and containers. */
  readonly gatewayUrl: string;
  /** The mock CRM, https. */
  readonly crmUrl: string;
  /** The mock mail server, smtp. */
  readonly smtpUrl: string;
  /** The mock GitLab, http; its API is below `/api/v4`. */
  readonly scmUrl: string;
  /** Opens its API: the setting `scmToken`, or one of this data folder's own (D-200). */
  readonly scmToken: string;
  /** The folder that keeps the world, or `:memory:`. */
  readonly dataDir: string;
  /** Marks what belongs to this world in container engines. */
  readonly worldId: string;
  readonly rootCredentials: RootCredentials;
  /** The addresses of the world's web form and its deployment lambda, if it has them. */
  readonly tour?: Tour;
  /** An address that signs a browser in as root, once, within ten minutes. Other programs reach the same path below `baseUrl`. */
  windowUrl(): string;
  /** Waits for running requests and invocations, saves, and closes everything. A second call waits for the same end. */
  stop(): Promise<void>;
}

/** The credentials with which root signs in (D-175). */
export interface RootCredentials {
  username: string;
  /** Absent when it was configured or changed: then only its owner knows it. */
  password?: string;
  apiKey: string;
  /** Absent when it was configured. */
  apiSecret?: string;
  /** The file that contains a generated pair, readable only by its owner. */
  apiSecretFile?: string;
  /** Was the pair made by the emulator (as opposed to configured)? */
  generated: boolean;
}

/** The addresses at which a person and a pipeline begin. */
export interface Tour {
  /** The address of the web form. */
  leadUrl?: string;
  /** The address of the deployment lambda. */
  deployUrl?: string;
}
