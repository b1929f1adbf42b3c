import { containerRows } from './containers.ts';
import { deliveryRows } from './delivery.ts';
import { historyRows, resetRows, snapshotRows } from './history.ts';
import { leadRows } from './leads.ts';
import { invokeRows, logRows, plainLogRows } from './logs.ts';
import { anyRows, entitlementTables, referenceRows, resourceRows } from './meta-any.ts';
import { documentRows, globalTables, organizationRows, platformRows } from './meta-global.ts';
import { openRows } from './meta-open.ts';
import { recordRows } from './meta-records.ts';
import { referringRows, refusedRows, typeChangeRows } from './meta-refused.ts';
import { typeTables } from './meta-types.ts';
import { outboundRows } from './outbound.ts';
import { publishingRows } from './publishing.ts';
import { failureRows, recordedRows } from './recorded.ts';
import { lineListRows, outboundListRows } from './recorded-parts.ts';
import { roleRows } from './roles.ts';
import type { Rows } from './row.ts';
import { accountRows, directoryRows, keyRows, statusRows, tokenRows } from './security.ts';
import { seedRows } from './seeds.ts';
import { sendingRows } from './sending.ts';
import { treeRows } from './tree.ts';
import { accessRows, settingsRows, windowRows } from './window.ts';
import { workbenchRows } from './workbench.ts';

/** The resource service. */
const resourceTables: readonly Rows[] = [
  platformRows,
  documentRows,
  organizationRows,
  ...globalTables,
  recordRows,
  ...typeTables,
  resourceRows,
  anyRows,
  ...entitlementTables,
  referenceRows,
];

/** What can only refuse: it is served, and the document does not tell of it. */
export const refusingTables: readonly Rows[] = [
  refusedRows,
  referringRows,
  typeChangeRows,
  { patchList: openRows.patchList, patchChildren: openRows.patchChildren },
];

/** The security service. */
const securityTables: readonly Rows[] = [tokenRows, keyRows, accountRows, directoryRows, statusRows];

/** What the emulator adds to the contract: all rows below `/inspect` and `/log`, in the order in which the document tells of them. */
export const emulatorTables = [
  plainLogRows,
  logRows,
  lineListRows,
  invokeRows,
  leadRows,
  seedRows,
  resetRows,
  windowRows,
  recordedRows,
  outboundListRows,
  failureRows,
  sendingRows,
  settingsRows,
  accessRows,
  roleRows,
  deliveryRows,
  publishingRows,
  historyRows,
  snapshotRows,
  outboundRows,
  workbenchRows,
  treeRows,
  containerRows,
] as const satisfies readonly Rows[];

/** All that is served at `{base_url}`, in the order in which the document tells of it. */
export const controlPlaneTables: readonly Rows[] = [...resourceTables, ...securityTables, ...emulatorTables];
