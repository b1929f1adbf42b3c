import type { containerRows } from '../../../server/contract/containers.ts';
import type { deliveryRows } from '../../../server/contract/delivery.ts';
import type { historyRows, resetRows, snapshotRows } from '../../../server/contract/history.ts';
import type { leadRows } from '../../../server/contract/leads.ts';
import type { invokeRows, logRows } from '../../../server/contract/logs.ts';
import type { outboundRows } from '../../../server/contract/outbound.ts';
import type { publishingRows } from '../../../server/contract/publishing.ts';
import type { failureRows, recordedRows } from '../../../server/contract/recorded.ts';
import type { lineListRows, outboundListRows } from '../../../server/contract/recorded-parts.ts';
import type { roleRows } from '../../../server/contract/roles.ts';
import type { AnswerOf, Verb } from '../../../server/contract/row.ts';
import type { sendingRows } from '../../../server/contract/sending.ts';
import type { treeRows } from '../../../server/contract/tree.ts';
import type { accessRows, settingsRows, windowRows } from '../../../server/contract/window.ts';
import type { workbenchRows } from '../../../server/contract/workbench.ts';

/** The tables of rows that the window asks by. */
type Tables =
  | typeof accessRows
  | typeof containerRows
  | typeof deliveryRows
  | typeof failureRows
  | typeof historyRows
  | typeof invokeRows
  | typeof leadRows
  | typeof lineListRows
  | typeof logRows
  | typeof outboundListRows
  | typeof outboundRows
  | typeof publishingRows
  | typeof recordedRows
  | typeof resetRows
  | typeof roleRows
  | typeof sendingRows
  | typeof settingsRows
  | typeof snapshotRows
  | typeof treeRows
  | typeof windowRows
  | typeof workbenchRows;

type RowIn<Table> = Table extends Table ? Table[keyof Table] : never;

/** What addresses of a route look like: `get /inspect/leads/${string}`, and the same with a number. */
type AddressOf<Route extends string> = Route extends `${infer Before}{${string}}${infer After}`
  ? `${Before}${string | number}${AddressOf<After>}`
  : Route;

/** A union's member that is the same as the type, neither wider nor narrower. */
type SameAs<T, Union> = Union extends Union ? ([T, Union] extends [Union, T] ? Union : never) : never;

type RowAt<Address extends string, Row = RowIn<Tables>> = Row extends { route: infer Route extends string }
  ? [SameAs<Address, AddressOf<Route>>] extends [never]
    ? never
    : Row
  : never;

/** What the server's row says that it answers there; unknown where no row of those above is of that address. */
export type AnswerAt<Method extends Uppercase<Verb>, Path extends string> = [
  RowAt<`${Lowercase<Method>} ${Path}`>,
] extends [never]
  ? unknown
  : AnswerOf<RowAt<`${Lowercase<Method>} ${Path}`>>;
