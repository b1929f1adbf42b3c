import { typeOfWord } from '../../model/registry.ts';
import type { TypeWord } from '../../model/type-words.ts';
import { members } from './meta-any.ts';
import { env, initialized } from './meta-global.ts';
import { filled, MOVABLE, openTypeRoutes, WITH_ENV } from './meta-open.ts';
import { count, required, nonEmptyText as someWord, uuids } from './parameter.ts';
import { recordOf } from './records.ts';
import {
  accepted,
  acceptedWithoutBody,
  defineRoutes,
  ok,
  permission,
  type Route,
  type Routes,
  route,
} from './route.ts';
import { namingOf } from './type-naming.ts';

const membership = {
  query: { id: uuids('IDs of users; repeat the parameter for several users') },
  answer: members,
} as const satisfies Partial<Route>;

/** D-073. */
export const membershipRoutes = defineRoutes('Groups', {
  addGroupMembers: route('patch /meta/{fqon}/groups/{group_id}/users', permission('group.update', 'group_id'), {
    summary: 'Add users to a group',
    ...membership,
  }),
  removeGroupMembers: route('delete /meta/{fqon}/groups/{group_id}/users', permission('group.update', 'group_id'), {
    summary: 'Remove users from a group',
    ...membership,
  }),
});

/** D-067, D-069. */
export const providerRoutes = defineRoutes('Providers', {
  initializeProviders: route('post /meta/root/providers/initialize', 'root', {
    summary: 'Create missing default rules',
    failsAs: 'provider.create',
    answer: ok(initialized, 'All defaults'),
    errors: [409],
  }),
  redeployProvider: route(
    'post /meta/{fqon}/providers/{provider_id}/redeploy',
    permission('provider.update', 'provider_id'),
    { summary: 'Accepted, but has no effect', answer: acceptedWithoutBody },
  ),
  actOnProvider: route('post /meta/{fqon}/providers/{provider_id}', 'caller', {
    summary: 'Actions of providers are not emulated',
    query: { action: required(someWord('Name of a provider action')) },
    errors: [501],
  }),
});

const mayScale = permission('container.scale', 'container_id');
/** D-053. */
export const scaleRoutes = defineRoutes('Containers', {
  scaleContainer: route('post /meta/{fqon}/containers/{container_id}/scale', mayScale, {
    summary: 'Scale a container',
    query: { numInstances: required(count('Number of instances', 0)) },
    answer: accepted(recordOf(typeOfWord('containers'))),
    errors: [409],
  }),
});

/** D-112. */
export const envRoutes = defineRoutes('Organizations', {
  readEnvOfOrganization: route('get /meta/{fqon}/env', permission('org.view', 'fqon'), {
    summary: 'List own and inherited environment variables',
    answer: ok(env),
  }),
});
export const lambdaEnvRoutes = defineRoutes('Lambdas', {
  readEnvOfLambdaById: route('get /meta/lambdas/{lambda_id}/env', permission('lambda.view', 'lambda_id'), {
    summary: 'List own and inherited environment variables by id',
    answer: ok(env),
  }),
});

/** Routes of single types: membership, moves, inherited variables ... */
export const typeTables: readonly Routes[] = [
  membershipRoutes,
  providerRoutes,
  scaleRoutes,
  ...MOVABLE.map((collection) =>
    ofType(collection, { migrate: openTypeRoutes.migrate, promote: openTypeRoutes.promote }),
  ),
  envRoutes,
  ...WITH_ENV.map((collection) => ofType(collection, { readEnvOf: openTypeRoutes.readEnv })),
  lambdaEnvRoutes,
];

/** Routes with the name of the type filled in and operation ids that include the type. */
function ofType(collection: TypeWord, table: Readonly<Record<string, Route>>): Routes {
  const type = typeOfWord(collection);
  const { tag, schema, idParameter } = namingOf(type);
  const rows = Object.entries(table).map(([name, row]): [string, Route] => {
    const reported = filled(row, { word: collection, resource_id: `{${idParameter}}` }, type.singular);
    const isMove = row.answer?.status === 202;
    return [`${name}${schema}`, { ...reported, tag, ...(isMove && { answer: accepted(recordOf(type)) }) }];
  });
  return Object.fromEntries(rows);
}
