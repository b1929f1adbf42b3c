import { may } from '../contract/right.ts';
import { accepted, listOf, type Operation, ok, ref, rowsOf } from './operation.ts';

const groups = rowsOf('Groups');
const providers = rowsOf('Providers');

const members = ok(listOf(ref('Link')), 'The members after the change');

/** What single types have beyond the routes of every type: membership, moves, inherited variables ... */
export const typeOperations: readonly Operation[] = [
  // D-073
  groups('patch /meta/{fqon}/groups/{group_id}/users', 'addGroupMembers', 'Add users to a group', {
    right: may('group.update', 'group_id'),
    query: ['member'],
    success: members,
    errors: [400, 403, 404],
  }),
  groups('delete /meta/{fqon}/groups/{group_id}/users', 'removeGroupMembers', 'Take users out of a group', {
    right: may('group.update', 'group_id'),
    query: ['member'],
    success: members,
    errors: [400, 403, 404],
  }),

  // D-067, D-069
  providers('post /meta/root/providers/initialize', 'initializeProviders', 'Create the missing defaults; root only', {
    right: 'root',
    success: ok(ref('Initialized'), 'All defaults'),
    errors: [403, 409],
  }),
  providers('post /meta/{fqon}/providers/{provider_id}/redeploy', 'redeployProvider', 'Accepted without effect', {
    right: may('provider.update', 'provider_id'),
    success: accepted(),
    errors: [400, 403, 404],
  }),
  providers('post /meta/{fqon}/providers/{provider_id}', 'actOnProvider', 'Actions of providers are not emulated', {
    right: 'caller',
    query: ['provider_action'],
    errors: [400, 404, 501],
  }),

  // D-053, D-131
  rowsOf('Containers')('post /meta/{fqon}/containers/{container_id}/scale', 'scaleContainer', 'Change its instances', {
    right: may('container.scale', 'container_id'),
    query: ['num_instances'],
    success: accepted(ref('Container')),
    errors: [400, 403, 404, 409],
  }),
  ...moves('Container', 'containers/{container_id}'),
  ...moves('Lambda', 'lambdas/{lambda_id}'),

  // D-112
  env('Organization', '{fqon}'),
  env('Workspace', '{fqon}/workspaces/{workspace_id}'),
  env('Environment', '{fqon}/environments/{environment_id}'),
  env('Container', '{fqon}/containers/{container_id}'),
  env('Job', '{fqon}/jobs/{job_id}'),
  env('Lambda', '{fqon}/lambdas/{lambda_id}'),
  env('Lambda', 'lambdas/{lambda_id}', 'ById', 'The same, without naming an organization'),
];

function moves(schema: string, path: string): Operation[] {
  const row = rowsOf(`${schema}s`);
  const noun = schema.toLowerCase();
  return [
    row(`post /meta/{fqon}/${path}/migrate`, `migrate${schema}`, 'Move it to another provider', {
      right: [...may(`${noun}.migrate`, `${noun}_id`), ...may(`${noun}.create`, 'parent')],
      query: ['migration_provider'],
      success: accepted(ref(schema)),
      errors: [400, 403, 404, 409, 503],
    }),
    row(`post /meta/{fqon}/${path}/promote`, `promote${schema}`, 'Bring it to another environment', {
      right: [...may(`${noun}.promote`, `${noun}_id`), ...may(`${noun}.create`, 'target')],
      query: ['promotion_target'],
      success: accepted(ref(schema)),
      errors: [400, 403, 404, 409, 503],
    }),
  ];
}

function env(schema: string, path: string, suffix = '', summary = 'Its environment variables and those it inherits') {
  const noun = schema === 'Organization' ? 'org' : schema.toLowerCase();
  return rowsOf(`${schema}s`)(`get /meta/${path}/env`, `readEnvOf${schema}${suffix}`, summary, {
    right: may(`${noun}.view`, path.slice(path.lastIndexOf('{') + 1, -1)),
    success: ok(ref('Env')),
    errors: [400, 403, 404],
  });
}
