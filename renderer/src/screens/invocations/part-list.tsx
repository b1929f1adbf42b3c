import { RecordedScreen, type RecordedScreenProps } from '../../shell/list-screen.tsx';
import { useSearch } from '../../url.ts';
import { InvocationDetailPane } from './invocation-detail-pane.tsx';
import { ListChoice } from './list-choice.tsx';

/** Part of an invocation: a call that it made, a line that it printed. */
interface Part {
  seq: number;
  executionId?: string | undefined;
}

export interface PartListProps<Row extends Part>
  extends Pick<RecordedScreenProps<Row>, 'label' | 'list' | 'columns' | 'events' | 'empty'> {
  /** Its name in the address of the screen. */
  name: 'outbound' | 'lines';
  /** The first tab that is shown of the invocation behind a row. */
  firstTab: string;
}

const keyOf = ({ seq, executionId = '' }: Part) => `${seq}.${executionId}`;

/** Parts of all invocations, newest first, and the invocation behind one of them. */
export function PartList<Row extends Part>({ firstTab, ...list }: PartListProps<Row>) {
  const [{ sel }] = useSearch();
  const [, executionId] = sel?.split('.') ?? [];
  return (
    <RecordedScreen
      title="Invocations"
      actions={<ListChoice />}
      {...list}
      keyOf={keyOf}
      narrowedBy={['q', 'scope', 'lambda']}
      detailLabel="Invocation"
      detail={
        executionId && (
          <InvocationDetailPane
            key={executionId}
            id={executionId}
            isRunning={false}
            previousId={undefined}
            firstTab={firstTab}
          />
        )
      }
    />
  );
}
