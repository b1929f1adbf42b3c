import { PlatformError } from './errors.ts';

/** For tests: the error that a call throws; fails when it throws none. */
export function refusalOf(call: () => unknown): { status: number; message: string; pointer?: string } {
  try {
    call();
  } catch (thrown) {
    if (!(thrown instanceof PlatformError)) throw thrown;
    const pointer = thrown.details?.[0]?.pointer;
    return { status: thrown.status, message: thrown.message, ...(pointer !== undefined && { pointer }) };
  }
  throw new Error('nothing was refused');
}
