import { useMemo } from 'react';
import { DiffEditor } from '../../components/code-editor.tsx';
import { TableHead } from '../../components/table-head.tsx';
import { partsOf, type VariableDifference } from './record-parts.ts';

export interface RecordDifferenceProps {
  /** Text for screen readers. */
  label: string;
  /** Undefined: there was none. */
  before: unknown;
  after: unknown;
}

/** A resource at two moments side by side, to read: its code as code, its variables by name, the rest as JSON. */
export function RecordDifference({ label, before, after }: RecordDifferenceProps) {
  const { code, variables, rest } = useMemo(() => partsOf(before, after), [before, after]);
  // A new record needs no comparison.
  const layout = before === undefined || after === undefined ? 'unified' : 'sides';
  if (!code && variables.length === 0 && !rest) return <p className="p-3 text-muted">Only the time differs.</p>;
  return (
    <div className="flex flex-col">
      {variables.length > 0 && <Variables variables={variables} />}
      {code && (
        <section aria-label="Code">
          <h4 className="eyebrow px-3 pt-2 pb-1">Code</h4>
          <div className="h-72 border-y border-line">
            <DiffEditor label={`${label}: code`} {...code} language="javascript" layout={layout} />
          </div>
        </section>
      )}
      {rest && (
        <section aria-label="Record">
          {(code || variables.length > 0) && <h4 className="eyebrow px-3 pt-2 pb-1">The rest of the record</h4>}
          <div className="h-72 border-y border-line">
            <DiffEditor label={label} {...rest} language="json" layout={layout} />
          </div>
        </section>
      )}
    </div>
  );
}

function Variables({ variables }: { variables: readonly VariableDifference[] }) {
  return (
    <table className="w-full table-fixed">
      <caption className="eyebrow px-3 pt-2 pb-1 text-left">Environment variables</caption>
      <TableHead heads={[{ text: 'Name', className: 'pl-3' }, 'Before', 'After']} />
      <tbody>
        {variables.map(({ name, before, after }) => (
          <tr key={name} className="border-t border-line/55 align-top">
            <th className="mono px-3 py-1 text-left break-all">{name}</th>
            <td className="mono px-2 py-1 break-all text-error">{before ?? <Absent />}</td>
            <td className="mono px-2 py-1 break-all text-ok">{after ?? <Absent />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Absent() {
  return <span className="font-sans text-faint">(not set)</span>;
}
