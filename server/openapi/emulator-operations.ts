import { listOf, type Operation, ok, ref, rowsOf } from './operation.ts';

const logs = rowsOf('Logs');
const lines = ok(listOf({ type: 'string' }), 'Lines, newest last');

/** The emulator's own routes: logs, caught leads, this document (D-001, D-191, D-200). */
export const emulatorOperations: readonly Operation[] = [
  logs('get /log/lambda/{lambda_id}', 'readLambdaLog', 'What a lambda printed', {
    query: ['log_time', 'stderr'],
    success: lines,
    errors: [400, 403, 404],
  }),
  logs('get /log/container/{container_id}', 'readContainerLog', 'What the instances of a container printed', {
    query: ['log_time', 'stderr'],
    success: lines,
    errors: [400, 403, 404, 503],
  }),
  rowsOf('Caught leads')('get /inspect/leads', 'listLeads', 'Web forms that the CRM stand-in caught, oldest first', {
    query: ['lead_email', 'lead_since'],
    success: ok(listOf(ref('Lead'))),
    errors: [400, 403],
  }),
  rowsOf('Platform')('get /openapi.json', 'readOpenApi', 'This document', {
    success: ok({ type: 'object' }),
    security: [],
  }),
];
