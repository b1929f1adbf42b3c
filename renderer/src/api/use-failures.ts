import type { FailureView as FailureRun } from '../../../server/api/routes/recorded.ts';
import { keys } from './query-client.ts';
import { useRead } from './use-read.ts';

export type { FailureView as FailureRun } from '../../../server/api/routes/recorded.ts';
/** A change that came just before something began to fail. */
export type CauseCandidate = FailureRun['likelyCauses'][number];

const NONE: readonly FailureRun[] = [];

export function useFailures(): readonly FailureRun[] {
  const { data } = useRead(keys.invocations, '/inspect/failures');
  return data?.failures ?? NONE;
}

/** Reads the group of failures that an invocation belongs to, with its reason; undefined until it is known. */
export function useFailure(executionId: string): FailureRun | undefined {
  return useRead(keys.invocations, `/inspect/failures/${executionId}`).data;
}
