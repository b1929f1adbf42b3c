// What tests of the window use of a platform. Declared here: the server's sources are checked without the types of browsers.

/** An answer of the resource service. */
interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test states what it expects of the body
  body: any;
}

export interface Platform {
  emulator: {
    baseUrl: string;
    gatewayUrl: string;
    rootCredentials: { apiKey: string; apiSecret?: string; password?: string };
    windowUrl(): string;
  };
  /** Speaks as root; paths are below `{meta_url}`. */
  root: {
    get(path: string): Promise<Reply>;
    create(path: string, body: unknown): Promise<Reply['body']>;
    patch(path: string, operations: unknown): Promise<Reply>;
  };
}

/** A platform for the tests of a file, with an empty world unless a seed is given: starts before the first of them and stops after the last. */
export function sharedPlatform(options?: { seed: 'demo' }): Platform;
