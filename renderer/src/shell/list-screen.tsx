import type { ReactNode } from 'react';
import type { QueryFault } from '../../../server/model/query-language.ts';
import { useMarks } from '../api/marks.ts';
import { type Happened, HappenedPane } from '../parts/list/happened-pane.tsx';
import { ListPane, type ListPaneProps } from '../parts/list/list-pane.tsx';
import { QueryBar, type QueryBarProps } from '../parts/query-bar.tsx';
import { ScreenFrame, type ScreenFrameProps } from './screen-frame.tsx';

/** How what happened can be asked for. */
export interface ListQuery extends Pick<QueryBarProps, 'example' | 'suggestions'> {
  /** What is searched; default: the label of the list in small letters. */
  what?: string;
  /** Reads what is typed. */
  read(text: string, nowMs: number): { ok: true } | { ok: false; fault: QueryFault };
}

/** What is said once of a list of what happened. */
export type Happening<Row> = Happened<Row> & { query: ListQuery };

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
      bar={happened ? <ListQueryBar what={pane.label.toLowerCase()} {...happened.query} /> : bar}
      actions={actions}
    >
      {above}
      {happened ? <HappenedList {...pane} {...happened} /> : <ListPane {...pane} />}
      {children}
    </ScreenFrame>
  );
}

export function ListQueryBar({ read, ...bar }: ListQuery & { what: string }) {
  const faultOf = (text: string) => {
    const query = read(text, Date.now());
    return query.ok ? undefined : query.fault;
  };
  return <QueryBar {...bar} faultOf={faultOf} />;
}

/** Beside what happened stands what was changed meanwhile. */
export function HappenedList<Row>(props: ListPaneProps<Row> & Happened<Row>) {
  return <HappenedPane {...props} marks={useMarks()} />;
}
