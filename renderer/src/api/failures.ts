import { useQuery } from '@tanstack/react-query';
import type { ShownFailure as FailureRun } from '../../../server/contract/recorded.ts';
import { load } from './client.ts';
import { keys } from './query-client.ts';

export type { ShownFailure as FailureRun } from '../../../server/contract/recorded.ts';
/** A change that came just before something began to fail. */
export type Suspect = FailureRun['suspects'][number];

const NONE: readonly FailureRun[] = [];

/** What fails now. */
export function useFailures(): readonly FailureRun[] {
  const { data } = useQuery({
    queryKey: [keys.invocations, 'failures'],
    queryFn: ({ signal }) => load('/inspect/failures', {}, signal),
  });
  return data?.failures ?? NONE;
}

/** What an invocation failed together with, and why; undefined until it is known. */
export function useFailure(executionId: string): FailureRun | undefined {
  return useQuery({
    queryKey: [keys.invocations, 'failure', executionId],
    queryFn: ({ signal }) => load(`/inspect/failures/${executionId}`, {}, signal),
  }).data;
}
