import type { ReactNode } from 'react';
import { useSearch } from '../../url.ts';
import { DataGrid, type DataGridProps } from '../data-grid.tsx';
import { SplitPane, type SplitPaneProps } from '../split-pane.tsx';

export interface ListPaneProps<Row>
  extends DataGridProps<Row>,
    Pick<SplitPaneProps, 'name' | 'detail' | 'detailLabel' | 'fixed' | 'width' | 'onClose'> {
  /** Above the rows, beside the detail. */
  head?: ReactNode;
}

/** Classes of the part above a list: in a low window it makes space for an open detail. */
export function aboveListClass(detail: ReactNode | undefined): string {
  return detail === undefined ? 'contents' : 'contents low:hidden';
}

export function ListPane<Row>(props: ListPaneProps<Row>) {
  const { name, detail, detailLabel, fixed, width, onClose, head, ...grid } = props;
  const [, change] = useSearch();
  return (
    <SplitPane
      name={name}
      detail={detail}
      {...(detailLabel !== undefined && { detailLabel })}
      {...(fixed && { fixed })}
      {...(width !== undefined && { width })}
      onClose={onClose ?? (() => change({ sel: undefined }))}
      list={
        <>
          {head}
          <DataGrid {...grid} />
        </>
      }
    />
  );
}
