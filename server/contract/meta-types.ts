import { typeOfWord } from '../model/registry.ts';
import type { TypeWord } from '../model/type-words.ts';
import { members } from './meta-any.ts';
import { env, initialized } from './meta-global.ts';
import { filled, MOVABLE, openTypeRows, WITH_ENV } from './meta-open.ts';
import { count, required, word as someWord, uuids } from './parameter.ts';
import { recordOf } from './records.ts';
import { may } from './right.ts';
import { begun, ok, type Row, type Rows, rowsOf, underWay } from './row.ts';
import { namingOf } from './type-naming.ts';

const membership = {
  right: may('group.update', 'group_id'),
  query: { id: uuids('Users; repeat it for more than one') },
  answer: members,
  errors: [404],
} as const satisfies Partial<Row>;

/** D-073. */
export const membershipRows = rowsOf('Groups', {
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
});

/** D-067, D-069. */
export const providerRows = rowsOf('Providers', {
  initializeProviders: {
    route: 'post /meta/root/providers/initialize',
    summary: 'Create the missing defaults; root only',
    right: 'root',
    failsAs: 'provider.create',
    answer: ok(initialized, 'All defaults'),
    errors: [409],
  },
  redeployProvider: {
    route: 'post /meta/{fqon}/providers/{provider_id}/redeploy',
    summary: 'Accepted without effect',
    right: may('provider.update', 'provider_id'),
    answer: underWay,
    errors: [400],
  },
  actOnProvider: {
    route: 'post /meta/{fqon}/providers/{provider_id}',
    summary: 'Actions of providers are not emulated',
    right: 'caller',
    query: { action: required(someWord('Name of a provider action')) },
    errors: [501],
  },
});

/** D-053. */
export const scaleRows = rowsOf('Containers', {
  scaleContainer: {
    route: 'post /meta/{fqon}/containers/{container_id}/scale',
    summary: 'Change its instances',
    right: may('container.scale', 'container_id'),
    query: { numInstances: required(count('Wanted number of instances', 0)) },
    answer: begun(recordOf(typeOfWord('containers'))),
    errors: [409],
  },
});

/** D-112. */
export const envRows = rowsOf('Organizations', {
  readEnvOfOrganization: {
    route: 'get /meta/{fqon}/env',
    summary: 'Its environment variables and those it inherits',
    right: may('org.view', 'fqon'),
    answer: ok(env),
    errors: [400],
  },
});
export const lambdaEnvRows = rowsOf('Lambdas', {
  readEnvOfLambdaById: {
    route: 'get /meta/lambdas/{lambda_id}/env',
    summary: 'The same, without naming an organization',
    right: may('lambda.view', 'lambda_id'),
    answer: ok(env),
    errors: [400, 404],
  },
});

/** What single types have beyond the routes of every type: membership, moves, inherited variables ... */
export const typeTables: readonly Rows[] = [
  membershipRows,
  providerRows,
  scaleRows,
  ...MOVABLE.map((word) => ofType(word, { migrate: openTypeRows.migrate, promote: openTypeRows.promote })),
  envRows,
  ...WITH_ENV.map((word) => ofType(word, { readEnvOf: openTypeRows.readEnv })),
  lambdaEnvRows,
];

/** Open rows with the words of a type, each called by what it does and the type. */
function ofType(word: TypeWord, table: Readonly<Record<string, Row>>): Rows {
  const type = typeOfWord(word);
  const { tag, schema, idParameter } = namingOf(type);
  const rows = Object.entries(table).map(([name, row]) => {
    const answer = row.answer?.status === 202 ? { ...row.answer, schema: recordOf(type) } : row.answer;
    const { summary } = row;
    const told = { ...filled(row, { word, resource_id: `{${idParameter}}` }, type.noun), summary, tag };
    return [`${name}${schema}`, { ...told, ...(answer && { answer }) }] as const;
  });
  return Object.fromEntries(rows);
}
