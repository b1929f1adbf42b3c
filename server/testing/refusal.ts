import type { ErrorCode } from '../model/error-codes.ts';
import { PlatformError } from '../model/errors.ts';

/** The error that a call throws; fails if it throws none. */
export function refusalOf(call: () => unknown): {
  status: number;
  reason: ErrorCode;
  message: string;
  pointer?: string;
} {
  try {
    call();
  } catch (thrown) {
    if (!(thrown instanceof PlatformError)) throw thrown;
    const pointer = thrown.details?.[0]?.pointer;
    const { status, reason, message } = thrown;
    return { status, reason, message, ...(pointer !== undefined && { pointer }) };
  }
  throw new Error('the call did not throw');
}
