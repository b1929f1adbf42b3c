import { z } from 'zod';
import { type KeyPair, type RefusedCall, RowClient } from '../api/client/route-client.ts';
import type { ErrorDetail } from '../model/errors.ts';
import { jsonIn } from '../model/json.ts';
import type { Config } from '../platform/config-schema.ts';
import type { RunningPlatform } from '../platform/running-platform.ts';
import { ExitWith, NO, USER_FAILURE } from './describe-failure.ts';

const TIMEOUT_MS = 60_000;

/** Calls a running platform; throws Refusal, or ExitWith if there is no response. */
export class PlatformClient extends RowClient {
  /** @param keyPair returns undefined to send no credentials; may throw UserError */
  constructor(baseUrl: string, keyPair: () => KeyPair | undefined) {
    super(baseUrl, keyPair, { timeoutMs: TIMEOUT_MS, headers: { 'X-Terrarium-Client': 'cli' } });
  }

  protected refused({ method, path, status, text }: RefusedCall): Refusal {
    return new Refusal(status, text, `${method} ${this.baseUrl}${path}`);
  }

  protected failed(reason: string): ExitWith {
    return new ExitWith(NO, reason);
  }
}

/** A client with the credentials of root, for a platform that this process has started. */
export function rootClient(
  { baseUrl, rootCredentials }: RunningPlatform,
  { rootApiSecret = '' }: Config,
): PlatformClient {
  const { apiKey: key, apiSecret: secret = rootApiSecret } = rootCredentials;
  return new PlatformClient(baseUrl, () => ({ key, secret }));
}

/** An error response of the platform (D-180, D-171). */
export class Refusal extends ExitWith {
  readonly details: readonly ErrorDetail[];

  constructor(status: number, text: string, request: string) {
    const {
      message = 'the platform rejected the request',
      reason,
      details = [],
    } = refusalSchema.safeParse(jsonIn(text)).data ?? {};
    const advice =
      status === 401 ? '. Set the correct --key and --secret, or TERRARIUM_API_KEY and TERRARIUM_API_SECRET' : '';
    super(status < 500 ? USER_FAILURE : NO, `${message}${advice} (${request}: ${status})`, { reason, status });
    this.details = details;
  }
}

const refusalSchema = z
  .object({
    message: z.string().optional(),
    reason: z.string().optional(),
    error_description: z.string().optional(),
    details: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
  })
  .transform(({ message, error_description, ...rest }) => ({ ...rest, message: message ?? error_description }));
