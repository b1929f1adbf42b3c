import { useQuery } from '@tanstack/react-query';
import { load } from './client.ts';
import { keys } from './query-client.ts';

/** A change that came just before something began to fail. */
export interface Suspect {
  /** Of its commit. */
  seq: number;
  at: string;
  by: string;
  resource: { id: string; name: string; path: string };
  /** Such as `removed CRM_OID`. */
  deeds: readonly string[];
}

/** Invocations of one lambda that came to nothing, one after the other, as `GET /inspect/failures` tells of them. */
export interface FailureRun {
  lambdaId: string;
  lambdaName: string;
  /** What came to nothing. */
  kind: 'form' | 'call' | 'invocation';
  text: string;
  count: number;
  /** How many of them no replay has made good yet. */
  lost: number;
  since: string;
  newest: string;
  isOver: boolean;
  suspects: readonly Suspect[];
}

const NONE: readonly FailureRun[] = [];

/** What fails now. */
export function useFailures(): readonly FailureRun[] {
  const { data } = useQuery({
    queryKey: [keys.invocations, 'failures'],
    queryFn: ({ signal }) => load<{ failures: FailureRun[] }>('/inspect/failures', {}, signal),
  });
  return data?.failures ?? NONE;
}

/** What an invocation failed together with, and why; undefined until it is known. */
export function useFailure(executionId: string): FailureRun | undefined {
  return useQuery({
    queryKey: [keys.invocations, 'failure', executionId],
    queryFn: ({ signal }) => load<FailureRun>(`/inspect/failures/${executionId}`, {}, signal),
  }).data;
}
