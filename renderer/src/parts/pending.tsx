import { ErrorState } from './empty-state.tsx';
import { Skeleton } from './skeleton.tsx';

export interface PendingProps {
  /** What react-query knows of an answer that is not there yet. */
  query: { error: unknown; refetch(): unknown };
  label?: string;
  /** How many rows will be there, about. */
  rows?: number;
}

/** In the place of an answer that is not there: grey bars while it is read, else why it could not be, and a way to try again. */
export function Pending({ query, ...bars }: PendingProps) {
  return query.error ? <ErrorState error={query.error} onRetry={() => void query.refetch()} /> : <Skeleton {...bars} />;
}
