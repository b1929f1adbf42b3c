import { useChange } from '../../api/change.ts';
import { answered, ask } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { durationText } from '../../components/amounts.ts';
import { announce } from '../../components/toasts.tsx';
import { addRun, type Run } from './runs.ts';

/** A lambda can take 500 s and wait before that; a debugged one has no limit. */
const RUN_TIMEOUT_MS = 15 * 60_000;
const DEBUGGED_TIMEOUT_MS = 24 * 60 * 60_000;

/** Runs the lambda with an event, given as text, with the `code` that it then has; what came of it is added to its runs. */
export function useRun(lambdaId: string, isDebugged: boolean) {
  return useChange(
    async ({ event, code }: Pick<Run, 'event' | 'code'>) => {
      const answer = await ask('POST', `/inspect/lambdas/${lambdaId}/invoke`, {
        // The editor has marked the invalid JSON; the message of the parser is shown.
        body: event.trim() === '' ? undefined : JSON.parse(event),
        timeoutMs: isDebugged ? DEBUGGED_TIMEOUT_MS : RUN_TIMEOUT_MS,
      });
      const result = answered(answer);
      const { outcome, durationMs } = result;
      announce(
        `The run ended: ${outcome.ok ? 'ok' : (outcome.message ?? outcome.failure)}, ${durationText(durationMs)}`,
      );
      addRun(lambdaId, { atMs: Date.now(), event, code, result });
    },
    { topic: keys.invocations },
  );
}
