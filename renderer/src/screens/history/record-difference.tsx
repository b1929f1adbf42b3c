import { useMemo } from 'react';
import { DiffEditor } from '../../components/code-editor.tsx';
import type { DiffEditorProps } from '../../components/editor-props.ts';
import { TableHead } from '../../components/table-head.tsx';
import { partsOf, type VariableDifference } from './record-parts.ts';

export interface RecordDifferenceProps {
  /** Text for screen readers. */
  label: string;
  /** Undefined: there was none. */
  before: unknown;
  after: unknown;
}

const MAX_COMPARED_CHARS = 300_000;
const TOO_LARGE = <p className="p-3 text-muted">Too large to compare here.</p>;
const isTooLarge = (part: unknown) => JSON.stringify(part).length > MAX_COMPARED_CHARS;

/** A resource at two moments side by side, to read: its code as code, its variables by name, the rest as JSON. */
export function RecordDifference({ label, before, after }: RecordDifferenceProps) {
  const { code, variables, rest } = useMemo(() => partsOf(before, after), [before, after]);
  // A new record needs no comparison.
  const layout = before === undefined || after === undefined ? 'unified' : 'sides';
  if (!code && variables.length === 0 && !rest)
    return <p className="p-3 text-muted">Nothing to compare here: only the time or an empty value differs.</p>;
  return (
    <div className="flex flex-col">
      {variables.length > 0 && <Variables variables={variables} />}
      {code && (
        <section aria-label="Code">
          <h4 className="eyebrow px-3 pt-2 pb-1">Code</h4>
          <Texts label={`${label}: code`} {...code} language="javascript" layout={layout} />
        </section>
      )}
      {rest && (
        <section aria-label="Record">
          {(code || variables.length > 0) && <h4 className="eyebrow px-3 pt-2 pb-1">The rest of the record</h4>}
          <Texts label={label} {...rest} language="json" layout={layout} />
        </section>
      )}
    </div>
  );
}

function Texts(props: DiffEditorProps) {
  if (isTooLarge([props.before, props.after])) return TOO_LARGE;
  return (
    <div className="h-72 border-y border-line">
      <DiffEditor {...props} />
    </div>
  );
}

function Variables({ variables }: { variables: readonly VariableDifference[] }) {
  if (isTooLarge(variables))
    return (
      <>
        <h4 className="eyebrow px-3 pt-2 pb-1">Environment variables</h4>
        {TOO_LARGE}
      </>
    );
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
