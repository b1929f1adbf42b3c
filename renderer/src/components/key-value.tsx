import { Fragment, type ReactNode } from 'react';
import { Copy } from './copy.tsx';

export interface KeyValueRow {
  name: string;
  value: ReactNode;
  /** Set: a button copies it. */
  copy?: string | undefined;
  isMono?: boolean;
}

/** Names and values, one a line. Rows whose value is undefined are left out. */
export function KeyValue({ rows, nameWidth = 140 }: { rows: readonly KeyValueRow[]; nameWidth?: number }) {
  return (
    <dl
      className="grid w-full items-start gap-x-3"
      style={{ gridTemplateColumns: `min(${nameWidth}px, 40%) minmax(0, 1fr)` }}
    >
      {rows
        .filter(({ value }) => value !== undefined)
        .map(({ name, value, copy, isMono }) => (
          <Fragment key={name}>
            <dt className="py-1 break-words text-muted">{name}</dt>
            <dd className={`flex min-w-0 items-start gap-1 py-1 ${isMono ? 'mono' : ''}`}>
              <span className="min-w-0 break-words">{value}</span>
              {copy !== undefined && <Copy text={copy} subject={name} className="-my-1 shrink-0" />}
            </dd>
          </Fragment>
        ))}
    </dl>
  );
}
