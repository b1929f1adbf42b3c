import type { ReactNode } from 'react';
import type { QueryFault } from '../../../../server/model/query-language.ts';
import { useMarks } from '../../api/marks.ts';
import { ListPane, type ListPaneProps } from '../../parts/list/list-pane.tsx';
import { QueryBar } from '../../parts/query-bar.tsx';
import { ScreenFrame } from '../../shell/screen-frame.tsx';
import { hrefOf, useSearch } from '../../url.ts';
import { InvocationDetailPane } from './invocation-detail.tsx';
import { ListChoice } from './list-choice.tsx';

/** Part of an invocation: a call that it made, a line that it printed. */
interface Part {
  seq: number;
  executionId?: string | undefined;
}

export interface PartListProps<Row extends Part>
  extends Pick<ListPaneProps<Row>, 'label' | 'list' | 'columns' | 'pointOf' | 'states' | 'views' | 'empty'> {
  /** Its name in the address of the screen. */
  name: 'outbound' | 'lines';
  /** Reads what is typed as a query. */
  read(text: string, nowMs: number): { ok: true } | { ok: false; fault: QueryFault };
  example: string;
  suggestions: readonly string[];
  /** What of the invocation behind a row is shown first. */
  firstTab: string;
}

const keyOf = ({ seq, executionId = '' }: Part) => `${seq}.${executionId}`;

/** Parts of all invocations, newest first, and the invocation behind one of them. */
export function PartList<Row extends Part>({ read, example, suggestions, firstTab, ...list }: PartListProps<Row>) {
  const marks = useMarks();
  const [{ q = '', sel, sort, scope, lambda }, change] = useSearch();
  const [, executionId] = sel?.split('.') ?? [];
  const faultOf = (text: string) => {
    const query = read(text, Date.now());
    return query.ok ? undefined : query.fault;
  };
  const detail: ReactNode = executionId && (
    <InvocationDetailPane
      key={executionId}
      id={executionId}
      isRunning={false}
      previousId={undefined}
      firstTab={firstTab}
    />
  );
  return (
    <ScreenFrame
      title="Invocations"
      bar={<QueryBar what={list.label.toLowerCase()} faultOf={faultOf} example={example} suggestions={suggestions} />}
      actions={<ListChoice />}
    >
      <ListPane
        {...list}
        keyOf={keyOf}
        marks={marks}
        hrefOf={(row) =>
          hrefOf({ screen: 'invocations', search: { list: list.name, q, lambda, sort, sel: keyOf(row) } }, scope)
        }
        isFiltered={q !== '' || scope !== undefined || lambda !== undefined}
        onClearFilter={() => change({ q: undefined, scope: undefined, lambda: undefined })}
        detailLabel="Invocation"
        detail={detail}
      />
    </ScreenFrame>
  );
}
