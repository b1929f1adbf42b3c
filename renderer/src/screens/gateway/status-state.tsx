import { State } from '../../components/state.tsx';
import { callsFailed } from '../invocations/invocation-words.ts';

/** An HTTP status; absent if no response was sent. A 2xx is not shown as success if an outbound call of the lambda failed. */
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
      {status ?? 'no response'}
    </State>
  );
}
