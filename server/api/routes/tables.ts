import { containerRoutes } from './containers.ts';
import { deliveryRoutes } from './delivery.ts';
import { clockRoutes, faultRoutes } from './faults.ts';
import { formRoutes } from './forms.ts';
import { historyRoutes, resetRoutes, snapshotRoutes } from './history.ts';
import { leadRoutes } from './leads.ts';
import { liveMapRoutes } from './live-map.ts';
import { invokeRoutes, logRoutes, plainLogRoutes } from './logs.ts';
import { mailRoutes } from './mails.ts';
import { anyRoutes, entitlementTables, referenceRoutes } from './meta-any.ts';
import { documentRoutes, globalRoutes, organizationRoutes, platformRoutes } from './meta-global.ts';
import { recordRoutes, resourceRoutes, typeTables } from './meta-records.ts';
import { outboundRoutes } from './outbound.ts';
import { publishingRoutes } from './publishing.ts';
import { failureRoutes, figureRoutes, lineListRoutes, outboundListRoutes, recordedRoutes } from './recorded.ts';
import { roleRoutes } from './roles.ts';
import type { Routes } from './route.ts';
import { searchRoutes } from './search.ts';
import { accountRoutes, directoryRoutes, keyRoutes, statusRoutes, tokenRoutes } from './security.ts';
import { seedRoutes } from './seeds.ts';
import { sendingRoutes } from './sending.ts';
import { treeRoutes } from './tree.ts';
import { accessRoutes, settingsRoutes, windowRoutes } from './window.ts';
import { workbenchRoutes } from './workbench.ts';

export const contractTables: readonly Routes[] = [
  platformRoutes,
  documentRoutes,
  organizationRoutes,
  globalRoutes,
  recordRoutes,
  ...typeTables,
  resourceRoutes,
  anyRoutes,
  ...entitlementTables,
  referenceRoutes,
  tokenRoutes,
  keyRoutes,
  accountRoutes,
  directoryRoutes,
  statusRoutes,
];

/** The platform's additions to the specification: all routes below `/inspect` and `/log`, in the order of the document. */
export const emulatorTables = [
  plainLogRoutes,
  logRoutes,
  lineListRoutes,
  invokeRoutes,
  leadRoutes,
  formRoutes,
  mailRoutes,
  seedRoutes,
  resetRoutes,
  windowRoutes,
  recordedRoutes,
  outboundListRoutes,
  failureRoutes,
  figureRoutes,
  liveMapRoutes,
  searchRoutes,
  sendingRoutes,
  settingsRoutes,
  accessRoutes,
  roleRoutes,
  deliveryRoutes,
  publishingRoutes,
  historyRoutes,
  snapshotRoutes,
  outboundRoutes,
  faultRoutes,
  clockRoutes,
  workbenchRoutes,
  treeRoutes,
  containerRoutes,
] as const satisfies readonly Routes[];

export const controlPlaneTables: readonly Routes[] = [...contractTables, ...emulatorTables];
