import type { ReactNode } from 'react';
import { type Happened, HappenedPane } from '../parts/list/happened-pane.tsx';
import { ListPane, type ListPaneProps } from '../parts/list/list-pane.tsx';
import { QueryBar, type QueryBarProps } from '../parts/query-bar.tsx';
import { ScreenFrame, type ScreenFrameProps } from './screen-frame.tsx';

/** What is said once of a list of what happened. */
export type Happening<Row> = Happened<Row> & { query: Omit<QueryBarProps, 'what'> & Partial<QueryBarProps> };

export interface ListScreenProps<Row> extends ListPaneProps<Row>, Pick<ScreenFrameProps, 'title' | 'bar' | 'actions'> {
  /** Between the bar and the list. */
  above?: ReactNode;
  /** The rows are something that happened; `query` takes the place of the bar. */
  happened?: Happening<Row>;
  /** Dialogs. */
  children?: ReactNode;
}

/** A screen that is a list: its bar, its rows, and one of them in detail. */
export function ListScreen<Row>(props: ListScreenProps<Row>) {
  const { title, bar, actions, above, happened, children, ...pane } = props;
  return (
    <ScreenFrame
      title={title}
      bar={happened ? <QueryBar what={pane.label.toLowerCase()} {...happened.query} /> : bar}
      actions={actions}
    >
      {above}
      {happened ? <HappenedPane {...pane} {...happened} /> : <ListPane {...pane} />}
      {children}
    </ScreenFrame>
  );
}
