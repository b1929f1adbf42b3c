import { ErrorState } from './empty-state.tsx';
import { Skeleton } from './skeleton.tsx';

export interface PendingProps {
  query: { error: unknown; refetch(): unknown };
  label?: string;
  rows?: number;
}

/** Replaces a response that is not loaded: grey bars while loading, or the error with a Retry button. */
export function Pending({ query, ...bars }: PendingProps) {
  return query.error ? <ErrorState error={query.error} onRetry={() => void query.refetch()} /> : <Skeleton {...bars} />;
}
