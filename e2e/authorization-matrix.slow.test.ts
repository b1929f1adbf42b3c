import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { typeOfWord } from '../server/model/registry.ts';
import { actionsOf } from '../server/model/rules/actions.ts';
import { typeIdOf } from '../server/model/type-names.ts';
import { LAMBDA } from '../server/model/types/lambda.ts';
import { type Account, logIn, makeAccount, rootPairOf } from '../server/testing/account.ts';
import { basic, bearer, type Reply, send } from '../server/testing/checked-client.ts';
import { fetchInProcess } from '../server/testing/fetch-in-process.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import { entitlementOf, grant } from '../server/testing/tenant.ts';
import { neededBy, type Operation, operations, requestOf, type Values, valuesOf } from './matrix-operation.ts';
import { type MatrixWorld, makeMatrixWorld } from './matrix-world.ts';

/**
 * Every route of the API document with every kind of caller. The expected result of each cell follows from the permission that the route
 * declares (`x-terrarium-right`). A route without one, or a parameter without a value in the matrix, fails.
 */

/** The expected response: 401, 403, or anything else. */
type Outcome = 'unknown' | 'refused' | 'admitted';

/** The callers. */
const COLUMNS = [
  'no credentials',
  'bad credentials',
  'an expired token',
  'a revoked token',
  'a stranger',
  'a member without rights',
  'a member with every right but this',
  'a window session from a foreign page',
  'a member with just this right',
  'the owner',
  'root',
  'a window session',
] as const;
type Column = (typeof COLUMNS)[number];
/** From here on they can make changes, one after the other; before, nearly everything is refused. */
const ACTING = COLUMNS.indexOf('a member with just this right');

const NINE_HOURS_MS = 9 * 60 * 60 * 1000;
const realNowMs = Date.now;
const data = mkdtempSync(join(tmpdir(), 'terrarium matrix '));

let platform: Platform;
let world: MatrixWorld;
let owner: Account;
/** The headers that identify each caller. */
let callers: Record<Column, (operation: Operation) => Record<string, string>>;
/** Members whose permissions are set for each operation. */
let just: Account;
let most: Account;
let values: Values;
/** The cookie of root's window session. */
let cookie: string;
let wrong = 0;

beforeAll(async () => {
  // A token of nine hours ago, in the data folder of a platform that ended then: while one runs, its clock does not follow the machine's.
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => realNowMs() - NINE_HOURS_MS);
  const ended = await startPlatform({ data });
  const early = await makeAccount(ended, 'early');
  await ended.stop();
  clock.mockRestore();

  platform = await startPlatform({ data, limits: { tokenRequestsPerMinute: 1000 } });
  const { root, emulator } = platform;

  owner = await makeAccount(platform, 'owner');
  await grant(root, '/root', 'org.create', owner.id);
  world = await makeMatrixWorld(platform, await platform.as('owner', 'secret'));
  await root.delete(`/root/entitlements/${(await entitlementOf(root, '/root', 'org.create')).id}`);

  await root.create('/root', { name: 'other' });
  const stranger = await makeAccount(platform, 'stranger', '/other');
  const anonymous = await makeAccount(platform, 'anonymous', '/acme');
  just = await makeAccount(platform, 'just', '/acme');
  most = await makeAccount(platform, 'most', '/acme');
  for (const action of actionsOf({ type: typeOfWord('orgs').name })) await grant(root, '/root', action, most.id);
  const revokedAccount = await makeAccount(platform, 'left', '/acme');
  await send('DELETE', `${emulator.securityUrl}/accessTokens/${revokedAccount.token}`, { auth: revokedAccount.bearer });
  const rootToken = bearer((await logIn(platform, 'root', 'root')).body.access_token);
  cookie = await signIn();

  const authorizeAs =
    (account: Account) =>
    ({ accepts: acceptedSchemes }: Operation) => ({
      authorization: acceptedSchemes.bearer ? account.bearer : account.basic,
    });
  callers = {
    'no credentials': () => ({}),
    'bad credentials': ({ accepts: acceptedSchemes }) => ({
      authorization: acceptedSchemes.bearer ? bearer('unknown') : basic('a', 'b'),
    }),
    'an expired token': () => ({ authorization: early.bearer }),
    'a revoked token': () => ({ authorization: revokedAccount.bearer }),
    'a stranger': authorizeAs(stranger),
    'a member without rights': authorizeAs(anonymous),
    'a member with every right but this': authorizeAs(most),
    'a window session from a foreign page': () => ({ cookie, origin: 'http://foreign.example' }),
    'a member with just this right': authorizeAs(just),
    'the owner': authorizeAs(owner),
    root: ({ accepts: acceptedSchemes }) => ({
      authorization: acceptedSchemes.bearer ? rootToken : rootPairOf(platform),
    }),
    'a window session': () => ({ cookie, origin: emulator.baseUrl }),
  };
  values = await valuesFor(world);
});
afterAll(async () => {
  const size = `${operations.length} routes x ${COLUMNS.length} callers = ${operations.length * COLUMNS.length} cells`;
  console.log(`authorization: ${size}, ${wrong} wrong`);
  await platform?.stop();
  rmSync(data, { recursive: true });
});

describe('a route', () => {
  it.each(operations.map((operation) => [operation.name, operation] as const))(
    '%s requires the permission that it declares',
    async (_, route) => {
      const request = requestOf(route, values);
      const needed = neededBy(route, world, values);
      for (const { action, id } of needed) await grant(platform.root, `/root/resources/${id}`, action, just.id);
      const withheld = needed.at(-1);
      if (withheld) await withhold(`/root/resources/${withheld.id}`, withheld.action, most.id);
      const { newest: at } = (await asRoot('GET', '/inspect/history?limit=1&brief=true')).body;

      const outcomes = new Map<Column, string>();
      const requestAs = async (column: Column) => {
        const { outcome, isDone } = await outcomeOf(route, request, column);
        outcomes.set(column, outcome);
        if (isDone && route.verb !== 'GET') await asRoot('POST', '/inspect/restore', { at });
        if (isDone && route.path === '/inspect/session') cookie = await signIn();
      };
      await Promise.all(COLUMNS.slice(0, ACTING).map(requestAs));
      for (const column of COLUMNS.slice(ACTING)) await requestAs(column);

      const isOfRoot = needed.some(({ id }) => id === world.rootId);
      const expectedOutcomes = new Map(COLUMNS.map((column) => [column, expectedOf(route, column, isOfRoot)]));
      wrong += COLUMNS.filter((column) => outcomes.get(column) !== expectedOutcomes.get(column)).length;
      expect(Object.fromEntries(outcomes)).toEqual(Object.fromEntries(expectedOutcomes));
    },
  );
});

/** The expected result of a cell. */
function expectedOf(
  { right, verb, accepts: acceptedSchemes, isAtGateway }: Operation,
  column: Column,
  isOfRoot: boolean,
): Outcome {
  const isSession = column.startsWith('a window session');
  // The gateway ignores it; the control plane accepts changes with it only from the window's own pages.
  if (column === 'a window session from a foreign page' && verb !== 'GET' && !isAtGateway) return 'refused';
  if (right === 'none') return 'admitted';
  if (isSession) return isAtGateway || !acceptedSchemes.bearer ? 'unknown' : 'admitted';
  switch (column) {
    case 'no credentials':
    case 'bad credentials':
    case 'an expired token':
    case 'a revoked token':
      return 'unknown';
    case 'root':
      return 'admitted';
    case 'a member with just this right':
      return right === 'root' ? 'refused' : 'admitted';
    case 'the owner':
      // Resources other than the root organization.
      return right === 'caller' || (right !== 'root' && !isOfRoot) ? 'admitted' : 'refused';
    default:
      return right === 'caller' ? 'admitted' : 'refused';
  }
}

/** The result of a request, and whether it had an effect; an unexpected response is returned as it is. */
async function outcomeOf(
  route: Operation,
  { url, init }: ReturnType<typeof requestOf>,
  column: Column,
): Promise<{ outcome: string; isDone: boolean }> {
  const { baseUrl, gatewayUrl } = platform.emulator;
  const reply = await fetchInProcess((route.isAtGateway ? gatewayUrl : baseUrl) + url, {
    ...init,
    method: route.verb,
    headers: { ...init.headers, ...callers[column](route) },
  });
  // A stream has no end to wait for.
  const isStream = reply.headers.get('content-type')?.startsWith('text/event-stream');
  const text = isStream ? await reply.body?.cancel() : await reply.text();
  const isFault = reply.status === 500 || /no route|unknown resource type/.test(text ?? '');
  const reported = isFault ? `${reply.status} ${text}` : 'admitted';
  const outcome = reply.status === 401 ? 'unknown' : reply.status === 403 ? 'refused' : reported;
  return { outcome, isDone: reply.ok };
}

/** A session of the window, as its cookie. */
async function signIn(): Promise<string> {
  const { baseUrl, windowUrl } = platform.emulator;
  const code = new URL(windowUrl()).searchParams.get('code');
  const { headers } = await send('POST', `${baseUrl}/inspect/session`, { body: { code } });
  return headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

/** Removes an identity from an entitlement, so that the caller does not inherit it there. */
async function withhold(node: string, action: string, identity: string): Promise<void> {
  const { id, properties } = await entitlementOf(platform.root, node, action);
  const identities = properties.identities.filter((identityRef: { id: string }) => identityRef.id !== identity);
  const { status, body } = await platform.root.put(`/root/entitlements/${id}`, { properties: { action, identities } });
  if (status !== 200) throw new Error(`withhold ${action}: ${status} ${JSON.stringify(body)}`);
}

async function valuesFor({ idOf, rootId, target, tenant }: MatrixWorld): Promise<Values> {
  const [environment, lambda] = [idOf('environments'), idOf('lambdas', 'environments')];
  const invoked = await asRoot('POST', `/inspect/lambdas/${lambda}/invoke`, {});
  await asRoot('POST', '/inspect/snapshots', { name: 'kept' });
  const directories = await asRoot('GET', '/security/acme/directories');
  const entitlements = await asRoot('GET', `/meta/acme/environments/${environment}/entitlements`);
  const lockedOut = await makeAccount(platform, 'locked-out', '/acme');
  return valuesOf(world, {
    fqon: 'acme',
    word: 'environments',
    resource_id: environment,
    child_word: 'lambdas',
    child_id: lambda,
    listed_word: 'datafeeds',
    type_id: typeIdOf(LAMBDA),
    entitlement_id: entitlements.body[0].id,
    account_id: idOf('users'),
    directory_id: directories.body[0].id,
    api_key: lockedOut.key,
    token: lockedOut.token,
    token_id: 'none',
    commit_seq: '2',
    execution_id: invoked.body.executionId,
    request_seq: '1',
    project_id: '101',
    variable_key: 'SHOP_NAME',
    pipeline_id: 'none',
    job_name: 'none',
    lead_id: rootId,
    fault_id: rootId,
    mail_id: rootId,
    attachment_number: '0',
    snapshot_name: 'kept',
    request_name: 'kept',
    result_id: lambda,
    api_name: 'shop',
    endpoint: 'e',
    // Query parameters.
    '?action': 'none',
    '?provider': tenant.docker,
    '?target': target,
    '?numInstances': '1',
    '?id': idOf('users'),
    '?name': 'a',
    '?from': '1',
    '?of': 'invocations',
    // Members of bodies, and other resources for some paths.
    lambdaId: lambda,
    userId: idOf('users'),
    lockedOut: lockedOut.id,
    // Only lambdas have a log, and only some types can be replaced.
    '/inspect/logs/{resource_id} resource_id': lambda,
    '/inspect/logs/{resource_id}/stream resource_id': lambda,
    '/meta/{fqon}/resources/{resource_id} resource_id': idOf('secrets'),
  });
}

async function asRoot(method: string, path: string, body?: unknown): Promise<Reply> {
  const reply = await send(method, platform.emulator.baseUrl + path, { auth: rootPairOf(platform), body });
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply;
}
