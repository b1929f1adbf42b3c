import { type PlatformRecord, useWorld } from '../../api/world.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { sourceOf } from './code-text.ts';
import { faultPlaceOf } from './fault-place.ts';
import type { RunResult } from './runs.ts';

const LINES_AROUND = 3;

/**
 * The position where a run failed: the line of the code with three lines around it, and the way to it in the editor.
 */
export function FaultSource({ result }: { result: Omit<RunResult, 'outbound'> & { acceptedAt?: string } }) {
  const position = faultPlaceOf(result);
  const lambda = useWorld<PlatformRecord>(`/root/resources/${result.lambdaId}`, {}, position !== undefined).data;
  if (!position || lambda?.id !== result.lambdaId || String(lambda.properties.code_type).toLowerCase() === 'package')
    return null;
  const first = Math.max(1, position.line - LINES_AROUND);
  const lines = sourceOf(lambda.properties.code)
    .split('\n')
    .slice(first - 1, position.line + LINES_AROUND);
  const isChanged =
    result.acceptedAt !== undefined && Date.parse(lambda.modified?.timestamp ?? '') > Date.parse(result.acceptedAt);
  return (
    <section aria-label="Source of the failure" className="mt-1.5 rounded-md border border-line bg-panel">
      <p className="flex flex-wrap items-center gap-x-3 border-b border-line px-2.5 py-1 text-small text-muted">
        Line {position.line}, column {position.column}
        {isChanged && <span className="text-warn">The lambda was changed after this invocation.</span>}
        <PlaceLink
          to={{ screen: 'lambdas', id: result.lambdaId, search: { line: String(position.line) } }}
          className="ml-auto"
        >
          Open in the editor
        </PlaceLink>
      </p>
      <ol className="mono overflow-x-auto py-1">
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a code are in their order
          <li key={index} className={`flex gap-3 px-2.5 ${first + index === position.line ? 'bg-error-soft' : ''}`}>
            <span className="w-8 shrink-0 text-right text-faint select-none">{first + index}</span>
            <span className="whitespace-pre">{line}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
