import type { ErrorCode as Reason } from '../model/error-codes.ts';
import { PlatformError } from '../model/errors.ts';
import type { ErrorCode, TerrariumError } from './api.ts';

/** Codes by the name of the error; an error at the start of a plugin is wrapped and keeps its name. */
const CODES: Readonly<Record<string, ErrorCode>> = { UserError: 'SETTING', SeedError: 'SEED', StoreError: 'DATA' };

export function failure(
  code: TerrariumError['code'],
  message: string,
  more: { status?: number; reason?: Reason; cause?: unknown } = {},
): TerrariumError {
  const { status, reason, cause } = more;
  const error = new Error(message, cause === undefined ? undefined : { cause });
  return Object.assign(error, {
    code,
    ...(status !== undefined && { status }),
    ...(reason !== undefined && { reason }),
  });
}

/** Converts an error of the platform; returns other errors unchanged. */
function withCode(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || 'code' in thrown) return thrown;
  const { message } = thrown;
  const code = CODES[thrown.name];
  const { cause } = thrown;
  const rejection = cause instanceof PlatformError && { status: cause.status, reason: cause.reason };
  if (code !== undefined) return failure(code, message, { ...rejection, cause: thrown });
  if (!(thrown instanceof PlatformError)) return thrown;
  const { status, reason } = thrown;
  return failure(status === 404 ? 'NOT_FOUND' : 'REFUSED', message, { status, reason, cause: thrown });
}

/** Runs an operation of the platform; its errors get a `code`. */
export async function coded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw withCode(thrown);
  }
}
