import { containerRows } from './containers.ts';
import { outboundRows } from './outbound.ts';
import type { Rows } from './row.ts';
import { treeRows } from './tree.ts';
import { workbenchRows } from './workbench.ts';

/** All rows, in the order in which the document tells of them. */
export const tables: readonly Rows[] = [outboundRows, workbenchRows, treeRows, containerRows];
