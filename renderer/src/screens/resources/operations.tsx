import type { AddOperation, Operation, ReplaceOperation } from 'fast-json-patch';

/** A browser takes seconds to draw thousands. */
const MAX_LISTED = 500;

const COLOURS: Partial<Record<Operation['op'], string>> = { add: 'text-ok', remove: 'text-error', test: 'text-muted' };

export interface OperationsProps {
  patch: readonly Operation[];
  /** Notes about a new value, in addition to its destination. */
  textOf?(operation: AddOperation<unknown> | ReplaceOperation<unknown>): string;
}

export function Operations({ patch, textOf }: OperationsProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard
    <ul tabIndex={0} aria-label="Operations" className="mb-3 max-h-40 overflow-auto">
      {patch.slice(0, MAX_LISTED).map((operation) => (
        <li key={`${operation.op} ${operation.path}`} className="mono flex gap-3">
          <span className={`w-16 shrink-0 ${COLOURS[operation.op] ?? 'text-running'}`}>{operation.op}</span>
          <span className="break-all">{operation.path}</span>
          <span className="min-w-0 break-all text-muted">
            {operation.op === 'test' && 'is unchanged since you started'}
            {textOf && (operation.op === 'add' || operation.op === 'replace') && textOf(operation)}
          </span>
        </li>
      ))}
      {patch.length > MAX_LISTED && (
        <li className="text-muted">and {(patch.length - MAX_LISTED).toLocaleString('en')} more</li>
      )}
    </ul>
  );
}
