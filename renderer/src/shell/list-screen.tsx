import type { ReactNode } from 'react';
import type { RecentList } from '../api/recent-list.ts';
import { type EventListOptions, RecordedEvents } from '../components/list/event-list.tsx';
import { aboveListClass, ListPane, type ListPaneProps } from '../components/list/list-pane.tsx';
import { QueryBar, type QueryBarProps } from '../components/query-bar.tsx';
import { ScreenFrame, type ScreenFrameProps } from './screen-frame.tsx';

/** Texts of a list of events. */
export type EventKind<Row> = EventListOptions<Row> & { query: Omit<QueryBarProps, 'subject'> & Partial<QueryBarProps> };

interface ScreenOfList extends Pick<ScreenFrameProps, 'title' | 'bar' | 'actions' | 'withheld' | 'isOpenToAll'> {
  /** Between the bar and the list. */
  above?: ReactNode;
  children?: ReactNode;
}

export type ListScreenProps<Row> = ScreenOfList & ListPaneProps<Row>;

export interface RecordedScreenProps<Row> extends ScreenOfList, ListPaneProps<Row> {
  /** The rows are something that happened; `query` takes the place of the bar. */
  events: EventKind<Row>;
  list: ListPaneProps<Row>['list'] & Pick<RecentList<Row>, 'source' | 'readAt'>;
}

/** A screen that is a list: its bar, its rows, and one of them in detail. */
export function ListScreen<Row>(props: ListScreenProps<Row>) {
  const { title, bar, actions, withheld, isOpenToAll = false, above, children, ...pane } = props;
  return (
    <ScreenFrame title={title} bar={bar} actions={actions} withheld={withheld} isOpenToAll={isOpenToAll}>
      <div className={aboveListClass(pane.detail)}>{above}</div>
      <ListPane {...pane} />
      {children}
    </ScreenFrame>
  );
}

/** A screen that is a list of what happened, with the figures of all of it. */
export function RecordedScreen<Row>(props: RecordedScreenProps<Row>) {
  const { title, actions, withheld, isOpenToAll = false, above, events, children, ...pane } = props;
  return (
    <ScreenFrame
      title={title}
      bar={<QueryBar subject={pane.label.toLowerCase()} {...events.query} />}
      actions={actions}
      withheld={withheld}
      isOpenToAll={isOpenToAll}
    >
      <div className={aboveListClass(pane.detail)}>{above}</div>
      <RecordedEvents {...pane} {...events} />
      {children}
    </ScreenFrame>
  );
}
