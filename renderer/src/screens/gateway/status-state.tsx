import { State } from '../../parts/state.tsx';

/** An HTTP status; without one nobody was answered. */
export function StatusState({ status }: { status: number | undefined }) {
  return (
    <State is={status === undefined || status >= 500 ? 'error' : status >= 400 ? 'warning' : 'ok'}>
      {status ?? 'no answer'}
    </State>
  );
}
