import { may, SEES_ALL } from '../contract/right.ts';
import { deliveryOperations } from './delivery-operations.ts';
import { historyOperations } from './history-operations.ts';
import { keyOperations } from './key-operations.ts';
import { gone, listOf, type Operation, ok, ref, rowsOf } from './operation.ts';
import { settingsOperations } from './settings-operations.ts';
import { windowOperations } from './window-operations.ts';

const logs = rowsOf('Logs');
const seeds = rowsOf('Seeds');
const lines = ok(listOf({ type: 'string' }), 'Lines, newest last');

const seedFormats = ['application/json', 'application/yaml'];

/** The emulator's own routes: logs, caught leads, seeds, this document (D-001, D-191, D-200). */
export const emulatorOperations: readonly Operation[] = [
  logs('get /log/lambda/{lambda_id}', 'readLambdaLog', 'What a lambda printed', {
    right: may('lambda.view', 'lambda_id'),
    query: ['log_time', 'stderr'],
    success: lines,
    errors: [400, 403, 404],
  }),
  logs('get /log/container/{container_id}', 'readContainerLog', 'What the instances of a container printed', {
    right: may('*.view', 'container_id'),
    query: ['log_time', 'stderr'],
    success: lines,
    errors: [400, 403, 404, 503],
  }),
  logs('get /inspect/logs/{lambda_id}', 'readOnInLog', 'What a lambda printed since a cursor', {
    right: may('lambda.view', 'lambda_id'),
    description:
      'Without `after` the lines that `/log` gives. Gives back a cursor; with that as `after` it gives what has come since, and waits up to `waitS` seconds for a first line.',
    query: ['log_after', 'wait_s', 'log_time', 'stderr'],
    success: ok(ref('LogPage')),
    errors: [400, 403, 404, 503],
  }),
  rowsOf('Logs')('get /inspect/logs/{resource_id}/stream', 'followLog', 'What is printed, as it is printed', {
    right: may('*.view', 'resource_id'),
    description:
      'Of a lambda, a container or a job. Server-sent events `lines` with `{lines, hasGap}`, each with its cursor as id: first the newest ' +
      '1000 lines, or with `after` or `Last-Event-ID` those since, then each that follows. A slow reader is waited for.',
    query: ['log_after'],
    success: { ...ok({ type: 'string' }), mediaTypes: ['text/event-stream'] },
    errors: [400, 403, 404, 503],
  }),
  rowsOf('Invocations')('post /inspect/lambdas/{lambda_id}/invoke', 'invokeLambda', 'Run a lambda', {
    right: may('lambda.invoke', 'lambda_id'),
    description: 'The body is the event. The answer is the record of the invocation, whatever came of it.',
    body: { schema: {}, optional: true },
    success: ok(ref('Invocation')),
    errors: [403, 404],
  }),
  rowsOf('Caught leads')('get /inspect/leads', 'listLeads', 'Web forms that the CRM stand-in caught, oldest first', {
    right: SEES_ALL,
    query: ['lead_email', 'lead_since', 'lead_execution', 'lead_refused', 'wait_s'],
    success: ok(listOf(ref('Lead'))),
    errors: [400, 403, 503],
  }),
  rowsOf('Caught leads')('delete /inspect/leads', 'deleteLeads', 'Delete all caught leads', {
    right: 'root',
    description: 'For the root user.',
    success: ok(ref('DeletedLeads')),
    errors: [403, 503],
  }),
  rowsOf('Caught leads')('delete /inspect/leads/{lead_id}', 'deleteLead', 'Delete a caught lead', {
    right: 'root',
    description: 'For the root user.',
    success: gone,
    errors: [403, 404, 503],
  }),
  seeds('post /inspect/apply', 'applySeed', 'Make the world what a seed document says', {
    right: 'root',
    description:
      'For the root user. One commit holds all changes; where one of them is refused none is made. What the document does ' +
      'not name is left alone, unless `prune` is true. Applied again it changes nothing. A `codeFile` is not read here: ' +
      'send the code as `properties.code`.',
    query: ['dry_run', 'prune'],
    body: { schema: ref('SeedDocument'), mediaTypes: seedFormats },
    success: ok(ref('AppliedSeed'), 'What was done, or with `dryRun` what would be'),
    errors: [403, 404, 409, 422],
  }),
  seeds('post /inspect/reset', 'resetWorld', 'Begin the world anew with a seed that is there', {
    right: 'root',
    description:
      'For the root user. The world becomes what a first start with the seed makes, but for the root user, who stays as he is. One ' +
      'commit holds all changes, so it can be undone by reverting that. Leads, results, keys and snapshots stay.',
    body: { schema: ref('ResetWish') },
    success: ok(ref('ResetWorld'), 'What was changed, or with `dryRun` would be'),
    errors: [403, 409, 503],
  }),
  seeds('get /inspect/export', 'exportSeed', 'The world, or one organization, as a seed document', {
    right: 'root',
    description:
      'For the root user. YAML, or JSON where the Accept header prefers that. Passwords, values of secrets and credentials ' +
      'of providers are not in it: `<not exported>` stands for them, and applying the document keeps what is stored. ' +
      'Applied to the world it was made from it changes nothing.',
    query: ['seed_scope'],
    success: { ...ok(ref('SeedDocument')), mediaTypes: seedFormats },
    errors: [400, 403, 404],
  }),
  ...windowOperations,
  ...settingsOperations,
  ...keyOperations,
  ...deliveryOperations,
  ...historyOperations,
  rowsOf('Platform')('get /openapi.json', 'readOpenApi', 'This document', {
    right: 'none',
    success: ok({ type: 'object' }),
  }),
];
