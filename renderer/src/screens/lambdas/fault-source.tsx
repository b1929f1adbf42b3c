import { useState } from 'react';
import { memberOf } from '../../../../server/model/json.ts';
import { keys } from '../../api/query-client.ts';
import { PAST_TOPIC, useRead } from '../../api/use-read.ts';
import { type PlatformRecord, useWorld } from '../../api/use-world.ts';
import { Button } from '../../components/button.tsx';
import { DiffEditor } from '../../components/code-editor.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { sourceOf } from './code-text.ts';
import { faultPlaceOf } from './fault-place.ts';
import type { RunResult } from './runs.ts';

const LINES_AROUND = 3;

/**
 * The position where a run failed: the line of the code that ran, with three lines around it. If the code was changed
 * since, the current code is one click away; a user who may not view that code sees only a note.
 */
export function FaultSource({ result }: { result: Omit<RunResult, 'outbound'> & { acceptedAt?: string } }) {
  const position = faultPlaceOf(result);
  const { lambdaId, acceptedAt } = result;
  const lambda = useWorld<PlatformRecord>(`/root/resources/${lambdaId}`, {}, position !== undefined).data;
  const isStored = position !== undefined && acceptedAt !== undefined;
  const then = useRead(PAST_TOPIC, '/inspect/world', { resource: lambdaId, at: acceptedAt }, { enabled: isStored });
  const isHidden = isStored && then.isError;
  // Not by the time of the lambda's last change, which an undone change restores.
  const since = useRead(
    keys.history,
    '/inspect/history',
    { resource: lambdaId, from: acceptedAt, limit: 1, brief: true },
    { enabled: isHidden },
  );
  const [isComparing, setComparing] = useState(false);
  if (!position || lambda?.id !== lambdaId || (isStored && (isHidden ? since : then).isPending)) return null;
  const isChanged = isHidden && (!since.data || since.data.commits.length > 0 || since.data.next !== undefined);
  const ran = memberOf(then.data, 'properties') ?? lambda.properties;
  if (String(memberOf(ran, 'code_type')).toLowerCase() === 'package') return null;
  const [before, after] = [sourceOf(memberOf(ran, 'code')), sourceOf(lambda.properties.code)];
  const first = Math.max(1, position.line - LINES_AROUND);
  const lines = isChanged ? [] : before.split('\n').slice(first - 1, position.line + LINES_AROUND);
  return (
    <section aria-label="Source of the failure" className="mt-1.5 rounded-md border border-line bg-panel">
      <div className="flex flex-wrap items-center gap-x-3 border-b border-line px-2.5 py-1 text-small text-muted">
        Line {position.line}, column {position.column}
        {isChanged && <span className="text-warn">The lambda was changed after this invocation.</span>}
        {before !== after && (
          <>
            <span className="text-warn">of the code at that time</span>
            <Button look="quiet" onPress={() => setComparing(true)}>
              Compare with the current code
            </Button>
          </>
        )}
        <PlaceLink
          to={{
            screen: 'lambdas',
            id: lambdaId,
            search: before === after && !isChanged ? { line: String(position.line) } : {},
          }}
          className="ml-auto"
        >
          Open in the editor
        </PlaceLink>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it */}
      <ol className="mono overflow-x-auto py-1 empty:hidden" tabIndex={0} aria-label="Lines of code">
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a code are in their order
          <li key={index} className={`flex gap-3 px-2.5 ${first + index === position.line ? 'bg-error-soft' : ''}`}>
            <span className="w-8 shrink-0 text-right text-faint select-none">{first + index}</span>
            <span className="whitespace-pre">{line}</span>
          </li>
        ))}
      </ol>
      {isComparing && (
        <Dialog
          title="The code that failed, and the current code"
          width="large"
          closing="Close"
          onClose={() => setComparing(false)}
        >
          <div className="h-96 border-y border-line">
            <DiffEditor
              label="The code that failed, and the current code"
              {...{ before, after }}
              language="javascript"
              layout="sides"
            />
          </div>
        </Dialog>
      )}
    </section>
  );
}
