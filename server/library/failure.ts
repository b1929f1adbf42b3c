import { PlatformError } from '../model/errors.ts';
import { UserError } from '../platform/config.ts';
import { SeedError } from '../services/seeds/seed-error.ts';
import { StoreError } from '../storage/files/store-error.ts';
import type { TerrariumError } from './api.ts';

export function failure(
  code: string,
  message: string,
  more: { status?: number; cause?: unknown } = {},
): TerrariumError {
  const { status, cause } = more;
  const error = new Error(message, cause === undefined ? undefined : { cause });
  return Object.assign(error, { code, ...(status !== undefined && { status }) });
}

/** Converts an error of the platform; returns other errors unchanged. */
function withCode(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || 'code' in thrown) return thrown;
  const { message } = thrown;
  if (thrown instanceof UserError) return failure('SETTING', message, { cause: thrown });
  if (thrown instanceof SeedError) return failure('SEED', message, { cause: thrown });
  if (thrown instanceof StoreError) return failure('DATA', message, { cause: thrown });
  if (!(thrown instanceof PlatformError)) return thrown;
  const { status } = thrown;
  return failure(status === 404 ? 'NOT_FOUND' : 'REFUSED', message, { status, cause: thrown });
}

/** Runs an operation of the platform; its errors get a `code`. */
export async function coded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw withCode(thrown);
  }
}
