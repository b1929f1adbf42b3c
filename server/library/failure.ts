import { UserError } from '../config.ts';
import { PlatformError } from '../model/errors.ts';
import { SeedError } from '../seed/seed-error.ts';
import { StoreError } from '../store/store-error.ts';
import type { TerrariumError } from './api.ts';

/** An error as users of the library meet it. */
export function failure(
  code: string,
  message: string,
  more: { status?: number; cause?: unknown } = {},
): TerrariumError {
  const { status, cause } = more;
  const error = new Error(message, cause === undefined ? undefined : { cause });
  return Object.assign(error, { code, ...(status !== undefined && { status }) });
}

/** The same for what our own parts throw; what is none of theirs stays as it is. */
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

/** Does something of the emulator's own; what it rejects with has a `code`. */
export async function coded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw withCode(thrown);
  }
}
