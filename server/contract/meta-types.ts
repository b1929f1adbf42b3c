import { typeOfWord } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import { members } from './meta-any.ts';
import { env, initialized } from './meta-global.ts';
import { required, text, uuid } from './parameter.ts';
import { recordOf } from './records.ts';
import { may } from './right.ts';
import { begun, ok, type Row, type Rows, rowsOf, underWay } from './row.ts';
import { namingOf } from './type-naming.ts';

const membership = {
  right: may('group.update', 'group_id'),
  query: {
    id: {
      ...required(text('Users; repeat it for more than one')),
      form: { type: 'array', items: { type: 'string', format: 'uuid' }, minItems: 1 },
    },
  },
  answer: members,
  errors: [404],
} as const satisfies Partial<Row>;

/** What single types have beyond the routes of every type: membership, moves, inherited variables ... */
export const typeTables: readonly Rows[] = [
  // D-073
  rowsOf('Groups', {
    addGroupMembers: {
      route: 'patch /meta/{fqon}/groups/{group_id}/users',
      summary: 'Add users to a group',
      ...membership,
    },
    removeGroupMembers: {
      route: 'delete /meta/{fqon}/groups/{group_id}/users',
      summary: 'Take users out of a group',
      ...membership,
    },
  }),
  // D-067, D-069
  rowsOf('Providers', {
    initializeProviders: {
      route: 'post /meta/root/providers/initialize',
      summary: 'Create the missing defaults; root only',
      right: 'root',
      answer: ok(initialized, 'All defaults'),
      errors: [409],
    },
    redeployProvider: {
      route: 'post /meta/{fqon}/providers/{provider_id}/redeploy',
      summary: 'Accepted without effect',
      right: may('provider.update', 'provider_id'),
      answer: underWay,
      errors: [400, 404],
    },
    actOnProvider: {
      route: 'post /meta/{fqon}/providers/{provider_id}',
      summary: 'Actions of providers are not emulated',
      right: 'caller',
      query: { action: required(text('Name of a provider action')) },
      errors: [404, 501],
    },
  }),
  // D-053, D-131
  rowsOf('Containers', {
    scaleContainer: {
      route: 'post /meta/{fqon}/containers/{container_id}/scale',
      summary: 'Change its instances',
      right: may('container.scale', 'container_id'),
      query: { numInstances: required(text('Wanted number of instances', { type: 'integer', minimum: 0 })) },
      answer: begun(recordOf(typeOfWord('containers'))),
      errors: [404, 409],
    },
  }),
  moves('containers'),
  moves('lambdas'),
  // D-112
  ...(['orgs', 'workspaces', 'environments', 'containers', 'jobs', 'lambdas'] as const).map(variables),
  rowsOf('Lambdas', {
    readEnvOfLambdaById: {
      route: 'get /meta/lambdas/{lambda_id}/env',
      summary: 'The same, without naming an organization',
      right: may('lambda.view', 'lambda_id'),
      answer: ok(env),
      errors: [400, 404],
    },
  }),
];

function moves(word: TypeWord): Rows {
  const type = typeOfWord(word);
  const { tag, schema, idParameter } = namingOf(type);
  const path = `/meta/{fqon}/${word}/{${idParameter}}` as const;
  const right = (verb: string, to: string) => [
    ...may(`${type.noun}.${verb}`, idParameter),
    ...may(`${type.noun}.create`, to),
  ];
  const common = { answer: begun(recordOf(type)), errors: [404, 409, 503] };
  return rowsOf(tag, {
    [`migrate${schema}`]: {
      ...common,
      route: `post ${path}/migrate`,
      summary: 'Move it to another provider',
      right: right('migrate', 'parent'),
      query: { provider: required(uuid('Provider to move to')) },
    },
    [`promote${schema}`]: {
      ...common,
      route: `post ${path}/promote`,
      summary: 'Bring it to another environment',
      right: right('promote', 'target'),
      query: { target: required(uuid('Environment to move to')) },
    },
  });
}

function variables(word: TypeWord): Rows {
  const type = typeOfWord(word);
  const { tag, schema, idParameter } = namingOf(type);
  const isOrganization = word === 'orgs';
  return rowsOf(tag, {
    [`readEnvOf${schema}`]: {
      route: `get /meta/{fqon}${isOrganization ? '' : `/${word}/{${idParameter}}`}/env`,
      summary: 'Its environment variables and those it inherits',
      right: may(`${type.noun}.view`, isOrganization ? 'fqon' : idParameter),
      answer: ok(env),
      errors: [400, 404],
    },
  });
}
