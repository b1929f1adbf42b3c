import { State } from '../../parts/state.tsx';
import { callsFailed } from '../invocations/invocation-words.ts';

/** An HTTP status; without one nobody was answered. A good one is none if the lambda behind it failed to reach somebody. */
export function StatusState({
  status,
  outboundFailures = 0,
}: {
  status: number | undefined;
  outboundFailures?: number | undefined;
}) {
  if (status !== undefined && status < 400 && outboundFailures > 0) {
    return (
      <State is="error">
        {status}, {callsFailed(outboundFailures)}
      </State>
    );
  }
  return (
    <State is={status === undefined || status >= 500 ? 'error' : status >= 400 ? 'warning' : 'ok'}>
      {status ?? 'no answer'}
    </State>
  );
}
