import { z } from 'zod';
import { typeOfWord } from '../../model/registry.ts';
import { link } from '../schemas/forms.ts';
import { object } from '../schemas/parts.ts';
import { env } from './meta-open.ts';
import { count, required, text, uuids } from './parameter.ts';
import { recordOf } from './records.ts';
import { accepted, acceptedWithoutBody, defineRoutes, ok, permission, type Route, route } from './route.ts';

const membership = {
  query: { id: uuids('IDs of users; repeat the parameter for several users') },
  answer: ok(z.array(link), 'The members after the change'),
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
    failsAs: 'provider.create',
    summary: 'Create missing default rules',
    answer: ok(object('Initialized', { status: z.literal('initialized'), providers: z.array(link) }), 'All defaults'),
    errors: [409],
  }),
  redeployProvider: route(
    'post /meta/{fqon}/providers/{provider_id}/redeploy',
    permission('provider.update', 'provider_id'),
    { summary: 'Accepted, but has no effect', answer: acceptedWithoutBody },
  ),
  actOnProvider: route('post /meta/{fqon}/providers/{provider_id}', 'caller', {
    summary: 'Actions of providers are not emulated',
    query: { action: required(text('Name of a provider action')) },
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
