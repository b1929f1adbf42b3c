import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { send } from '../../testing/checked-client.ts';
import { type ApiClient, type Platform, startPlatform } from '../../testing/platform.ts';
import { type RequestRecorder, startRequestRecorder } from '../../testing/request-recorder.ts';
import { type ResourceFactory, resourceFactoryFor } from '../../testing/resource-factory.ts';
import {
  type Body,
  containerBody,
  createTenant,
  grant,
  lambdaBody,
  makeUser,
  type Tenant,
} from '../../testing/tenant.ts';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

let platform: Platform;
let root: ApiClient;
let recorder: RequestRecorder;
let make: ResourceFactory;
/** A lambda that tells the witness. */
let teller: string;
beforeAll(async () => {
  recorder = await startRequestRecorder();
  platform = await startPlatform();
  root = platform.root;
  make = resourceFactoryFor(root);
});
afterAll(async () => {
  await platform?.stop();
  await recorder?.stop();
});
afterEach(() => expect(recorder.untaken).toEqual([]));

/** A place with a second environment and a second Lambda provider. */
interface Fixture extends Tenant {
  otherEnvironment: string;
  otherEnvironmentId: string;
  otherProvider: string;
}
const setScene = async (types: { other?: string; provider?: object } = {}): Promise<Fixture> => {
  const tenant = await createTenant(root, make.fresh('moves'));
  teller ??= (await root.create('/root/lambdas', lambdaBody(tenant, 'teller', { code: recorder.code }))).id;
  const other = await root.create(`${tenant.workspace}/environments`, {
    name: 'other',
    properties: { environment_type: types.other ?? 'test' },
  });
  const provider = await make.provider(tenant, 'Lambda', types.provider);
  return {
    ...tenant,
    otherEnvironment: `${tenant.org}/environments/${other.id}`,
    otherEnvironmentId: other.id,
    otherProvider: provider.id,
  };
};
const makeLambda = (tenant: Tenant, properties: object = {}, at = tenant.environment) =>
  root.create(`${at}/lambdas`, lambdaBody(tenant, 'moved', properties));
const makeContainer = (tenant: Tenant) =>
  root.create(`${tenant.environment}/containers`, containerBody(tenant, 'moved'));
const named = async (environment: string, collection = 'lambdas'): Promise<Body[]> =>
  (await root.get(`${environment}/${collection}?name=moved&expand=true`)).body;
/** Waits until the only `moved` of an environment is not the one of that id. */
const replaced = async (environment: string, id: string): Promise<Body> => {
  await expect.poll(async () => (await named(environment)).map((record) => record.id)).not.toContain(id);
  const [replacement, ...otherRecords] = await named(environment);
  expect(otherRecords).toEqual([]);
  return replacement;
};
const ruleAt = (node: string, actions: string[], lambda = teller) =>
  make.rule(node, 'Event', { match_actions: actions.map((action) => ({ action })), lambda });
const migrate = (record: Body, provider: string, client = root) =>
  client.post(`${pathOf(record)}/migrate?provider=${provider}`);
const promote = (record: Body, target: string, client = root) =>
  client.post(`${pathOf(record)}/promote?target=${target}`);
const pathOf = ({ id, resource_type }: Body) =>
  `/root/${resource_type.endsWith('Container') ? 'containers' : 'lambdas'}/${id}`;
const statusOf = async (record: Body) => (await root.get(pathOf(record))).body?.properties?.status;

describe('rejections (D-131)', () => {
  it.each(['lambdas', 'containers'])('a missing or malformed parameter is 400, for %s', async (collection) => {
    const fixture = await setScene();
    const record = collection === 'lambdas' ? await makeLambda(fixture) : await makeContainer(fixture);
    for (const query of [
      'migrate',
      'migrate?provider=',
      'migrate?provider=x',
      `migrate?target=${fixture.otherProvider}`,
    ]) {
      expect((await root.post(`${pathOf(record)}/${query}`)).status).toBe(400);
    }
    for (const query of ['promote', 'promote?target=', 'promote?target=x']) {
      expect((await root.post(`${pathOf(record)}/${query}`)).status).toBe(400);
    }
  });
  it('unknown is 404: the source, the provider, the environment', async () => {
    const fixture = await setScene();
    const lambda = await makeLambda(fixture);
    expect((await migrate({ ...lambda, id: UNKNOWN_ID }, fixture.otherProvider)).status).toBe(404);
    expect((await migrate(lambda, UNKNOWN_ID)).status).toBe(404);
    expect((await migrate(lambda, fixture.environmentId)).status).toBe(404);
    expect((await promote(lambda, UNKNOWN_ID)).status).toBe(404);
    expect((await promote(lambda, fixture.workspaceId)).status).toBe(404);
    const job = await root.create(`${fixture.environment}/jobs`, containerBody(fixture, 'job'));
    expect((await root.post(`/root/jobs/${job.id}/migrate?provider=${fixture.docker}`)).status).toBe(404);
  });
  it('a provider of the wrong kind is 400, with and without a rule, with and without an engine', async () => {
    const fixture = await setScene();
    const [lambda, container] = [await makeLambda(fixture), await makeContainer(fixture)];
    const executor = await make.provider(fixture, 'Lambda::Executor::NodeJS');
    const check = async () => {
      expect((await migrate(lambda, fixture.docker)).status).toBe(400);
      expect((await migrate(lambda, executor.id)).status).toBe(400);
      expect((await migrate(container, fixture.otherProvider)).status).toBe(400);
    };
    await check();
    await ruleAt(fixture.environment, ['lambda.migrate', 'container.migrate']);
    await check();
  });
  it('the same provider or environment is 400', async () => {
    const fixture = await setScene();
    const [lambda, container] = [await makeLambda(fixture), await makeContainer(fixture)];
    expect((await migrate(lambda, fixture.lambdas)).status).toBe(400);
    expect((await migrate(container, fixture.docker)).status).toBe(400);
    expect((await promote(lambda, fixture.environmentId)).status).toBe(400);
    expect((await promote(container, fixture.environmentId)).status).toBe(400);
  });
  it('an incompatible environment type is 409', async () => {
    const fixture = await setScene({ provider: { environment_types: ['production'] } });
    const production = { environment_types: ['production'] };
    const engine = await make.provider(fixture, 'CaaS::Docker', production);
    expect((await migrate(await makeLambda(fixture), fixture.otherProvider)).body).toMatchObject({
      code: 409,
      message: 'Incompatible Environment type',
    });
    expect((await migrate(await makeContainer(fixture), engine.id)).status).toBe(409);
  });
  it('without an engine a container’s move is 503 with Retry-After and changes nothing (D-050)', async () => {
    const fixture = await setScene();
    const container = await makeContainer(fixture);
    const engine = await make.provider(fixture, 'CaaS::Docker');
    for (const reply of [await migrate(container, engine.id), await promote(container, fixture.otherEnvironmentId)]) {
      expect(reply.status).toBe(503);
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await root.get(pathOf(container))).body).toEqual(container);
    expect(await named(fixture.otherEnvironment, 'containers')).toEqual([]);
  });
  it('a limit on the move is 409; it may stand where the move leads (D-122)', async () => {
    const fixture = await setScene();
    const lambda = await makeLambda(fixture);
    const policy = await root.create(`${fixture.otherEnvironment}/policies`, { name: 'cap' });
    await root.create(`/root/policies/${policy.id}/rules`, {
      name: 'cap',
      resource_type: 'Platform::Resource::Rule::Limit',
      properties: {
        match_actions: [{ action: 'lambda.promote' }],
        eval_logic: { property: 'lambdas.count', operator: '<=', value: 0 },
      },
    });
    expect((await promote(lambda, fixture.otherEnvironmentId)).status).toBe(409);
    expect((await root.get(pathOf(lambda))).body).toEqual(lambda);
  });
});

describe('the built-in migration of a lambda (D-131, D-133)', () => {
  it('answers 202 with the source, MIGRATING; then a record of the same name and properties has taken its place', async () => {
    const fixture = await setScene();
    const lambda = await makeLambda(fixture, { env: { A: '1' }, timeout: 7 });
    const reply = await migrate(lambda, fixture.otherProvider);
    expect(reply.status).toBe(202);
    expect(reply.body).toEqual({ ...lambda, properties: { ...lambda.properties, status: 'MIGRATING' } });
    const copy = await replaced(fixture.environment, lambda.id);
    expect(copy.properties).toEqual({ ...lambda.properties, provider: { id: fixture.otherProvider } });
    expect((await root.get(pathOf(lambda))).status).toBe(404);
  });
  it('endpoints and event rules follow it, and rights on it are kept', async () => {
    const fixture = await setScene();
    const { id: userId, client } = await makeUser(platform, make.fresh('user'));
    const lambda = await makeLambda(fixture);
    await grant(root, pathOf(lambda), 'lambda.view', userId);
    const rule = await ruleAt(fixture.environment, ['volume.update'], lambda.id);
    const endpoint = await make.endpoint(await make.api(fixture), lambda);
    await migrate(lambda, fixture.otherProvider);
    const copy = await replaced(fixture.environment, lambda.id);
    const followed = (await root.get(`/root/apiendpoints/${endpoint.id}`)).body;
    expect(followed.properties.implementation_id).toBe(copy.id);
    expect(followed.modified.action).toBe('update');
    expect((await root.get(`/root/rules/${rule.id}`)).body.properties.lambda.id).toBe(copy.id);
    expect((await client.get(pathOf(copy))).status).toBe(200);
    expect(await send('GET', endpoint.properties.public_url)).toMatchObject({ status: 200, body: 'moved' });
  });
  it('what changes between the answer and the move is not lost', async () => {
    const fixture = await setScene();
    const lambda = await makeLambda(fixture, { env: {} });
    const replies = await Promise.all([
      migrate(lambda, fixture.otherProvider),
      ...['A', 'B', 'C'].map((name) =>
        root.patch(pathOf(lambda), [{ op: 'add', path: `/properties/env/${name}`, value: name }]),
      ),
    ]);
    const copy = await replaced(fixture.environment, lambda.id);
    const done = replies.slice(1).filter(({ status }) => status === 200).length;
    expect(Object.keys(copy.properties.env)).toHaveLength(done);
  });
  it('nor are new references to it', async () => {
    const fixture = await setScene();
    const lambda = await makeLambda(fixture);
    const api = await root.create(`${fixture.environment}/apis`, { name: `late-${lambda.id}` });
    const post = (at: number) =>
      root.post(`${fixture.org}/apis/${api.id}/apiendpoints`, {
        name: `e-${at}`,
        properties: { resource: `/${at}`, implementation_type: 'lambda', implementation_id: lambda.id },
      });
    const posting = [0, 1, 2, 3].map(async (first) => {
      const replies: number[] = [];
      for (let at = first; replies.at(-1) !== 400 && at < 400; at += 4) replies.push((await post(at)).status);
      return replies;
    });
    expect((await migrate(lambda, fixture.otherProvider)).status).toBe(202);
    const replies = (await Promise.all(posting)).flat();
    const copy = await replaced(fixture.environment, lambda.id);
    expect(replies, 'refused: the source went while others came to name it').toContain(400);
    const followers = await root.get(`${fixture.org}/apiendpoints?implementation_id=${copy.id}`);
    expect(followers.body).toHaveLength(replies.filter((status) => status === 201).length);
  });
  it('a lambda of an organization migrates as well', async () => {
    const fixture = await setScene();
    const lambda = await makeLambda(fixture, {}, fixture.org);
    expect((await migrate(lambda, fixture.otherProvider)).status).toBe(202);
    await expect.poll(async () => (await root.get(pathOf(lambda))).status).toBe(404);
  });
  it('is announced before and after (D-125, D-126)', async () => {
    const fixture = await setScene();
    const lambda = await makeLambda(fixture);
    await ruleAt(fixture.workspace, ['lambda.migrate']);
    await migrate(lambda, fixture.otherProvider);
    const [before, after] = await recorder.take(2);
    expect(before).toMatchObject({
      action: 'lambda.migrate.pre',
      environment_id: fixture.environmentId,
      provider_id: fixture.otherProvider,
      resource: { id: lambda.id },
      args: { provider: fixture.otherProvider },
    });
    const copy = await replaced(fixture.environment, lambda.id);
    expect(after).toMatchObject({ action: 'lambda.migrate.post', provider_id: fixture.otherProvider, resource: copy });
  });
});

describe('the built-in promotion of a lambda (D-133)', () => {
  it('makes a record of the same name in the target; source and endpoints stay', async () => {
    const fixture = await setScene();
    const lambda = await makeLambda(fixture, { env: { A: '1' } });
    const endpoint = await make.endpoint(await make.api(fixture), lambda);
    const reply = await promote(lambda, fixture.otherEnvironmentId);
    expect(reply).toMatchObject({ status: 202, body: { id: lambda.id, properties: { status: 'MIGRATING' } } });
    await expect.poll(() => statusOf(lambda)).toBeUndefined();
    const [copy] = await named(fixture.otherEnvironment);
    const { parent: _, ...properties } = lambda.properties;
    expect(copy.properties).toMatchObject(properties);
    expect(copy.properties.parent.id).toBe(fixture.otherEnvironmentId);
    expect(copy.id).not.toBe(lambda.id);
    expect((await root.get(pathOf(lambda))).body).toEqual(lambda);
    expect((await root.get(`/root/apiendpoints/${endpoint.id}`)).body).toEqual(endpoint);
  });
  it('updates the existing resource of that name: code and env, nothing else', async () => {
    const fixture = await setScene();
    const lambda = await makeLambda(fixture, { code: 'exports.run = () => 1;', env: { A: 'new' }, timeout: 5 });
    const existingLambda = await makeLambda(fixture, { env: { B: 'old' }, memory: 99 }, fixture.otherEnvironment);
    await promote(lambda, fixture.otherEnvironmentId);
    await expect.poll(() => statusOf(lambda)).toBeUndefined();
    const after = (await root.get(pathOf(existingLambda))).body;
    expect(after.properties).toEqual({
      ...existingLambda.properties,
      code: 'exports.run = () => 1;',
      env: { A: 'new' },
    });
    expect(await named(fixture.otherEnvironment)).toHaveLength(1);
  });
  it('takes the same provider if it fits, else the first of its type that does, else none: 409', async () => {
    const fixture = await setScene({ other: 'production', provider: { environment_types: ['development'] } });
    const lambda = await makeLambda(fixture, { provider: { id: fixture.otherProvider } });
    const fitting = await make.provider(fixture, 'Lambda', { environment_types: ['production'] });
    await make.provider(fixture, 'Lambda', { environment_types: ['production'] });
    await promote(lambda, fixture.otherEnvironmentId);
    await expect.poll(() => statusOf(lambda)).toBeUndefined();
    const [copy] = await named(fixture.otherEnvironment);
    expect(copy.properties.provider.id).toBe(fitting.id);

    const aws = await make.provider(fixture, 'Lambda::AWS', { environment_types: ['development'] });
    const lonely = await root.create(
      `${fixture.environment}/lambdas`,
      lambdaBody(fixture, 'lonely', { provider: { id: aws.id } }),
    );
    expect((await promote(lonely, fixture.otherEnvironmentId)).status).toBe(409);
    expect((await root.get(pathOf(lonely))).body).toEqual(lonely);
  });
  it('is announced to the policies of both environments, once to each rule', async () => {
    const fixture = await setScene();
    const lambda = await makeLambda(fixture);
    const actions = ['lambda.promote.post'];
    const rules = [await ruleAt(fixture.otherEnvironment, actions), await ruleAt(fixture.environment, actions)];
    rules.push(await ruleAt(fixture.org, actions));
    await promote(lambda, fixture.otherEnvironmentId);
    const reported = await recorder.take(3);
    expect(reported.map(({ rule }) => rule.id).sort()).toEqual(rules.map(({ id }) => id).sort());
    for (const event of reported) {
      expect(event).toMatchObject({ target_env_id: fixture.otherEnvironmentId, environment_id: fixture.environmentId });
      expect(event.resource.properties.parent.id).toBe(fixture.otherEnvironmentId);
    }
  });
});

describe('a rule’s lambda takes a move over (D-132)', () => {
  it('invoked once with the event; MIGRATING until it ends, then the real status returns', async () => {
    const fixture = await setScene();
    const container = await makeContainer(fixture);
    const engine = await make.provider(fixture, 'CaaS::Docker');
    const rule = await ruleAt(fixture.environment, ['container.migrate']);
    const release = recorder.suspend();
    const reply = await migrate(container, engine.id);
    expect(reply).toMatchObject({ status: 202, body: { id: container.id, properties: { status: 'MIGRATING' } } });
    const [event] = await recorder.take(1);
    expect(event).toMatchObject({
      action: 'container.migrate.pre',
      provider_id: engine.id,
      resource: { id: container.id },
      rule: { id: rule.id },
    });
    expect(await statusOf(container)).toBe('MIGRATING');
    expect((await migrate(container, engine.id)).status).toBe(409);
    expect((await promote(container, fixture.otherEnvironmentId)).status).toBe(409);
    release();
    await expect.poll(() => statusOf(container)).toBe(container.properties.status);
    expect((await root.get(pathOf(container))).body).toEqual(container);
    expect(await named(fixture.environment, 'containers')).toHaveLength(1);
  });
  it('while it lasts the name is free in the environment, and the source may be deleted (D-134)', async () => {
    const fixture = await setScene();
    const container = await makeContainer(fixture);
    await ruleAt(fixture.environment, ['container.migrate.pre']);
    const release = recorder.suspend();
    // Also to the provider it is on: the rule knows what is meant.
    expect((await migrate(container, fixture.docker)).status).toBe(202);
    await recorder.take(1);
    const copy = await makeContainer(fixture);
    expect(copy.id).not.toBe(container.id);
    expect((await root.post(`${fixture.environment}/containers`, containerBody(fixture, 'moved'))).status).toBe(409);
    expect((await root.delete(pathOf(container))).status).toBe(204);
    release();
    expect((await root.get(pathOf(copy))).body).toEqual(copy);
    expect((await root.get(pathOf(container))).status).toBe(404);
  });
  it('of several the oldest rule’s; the others, and those further up, get the event', async () => {
    const fixture = await setScene();
    const lambda = await makeLambda(fixture);
    const actions = ['lambda.migrate.pre'];
    const farther = await ruleAt(fixture.workspace, actions);
    const oldest = await ruleAt(fixture.environment, actions);
    const younger = await ruleAt(fixture.environment, actions);
    await migrate(lambda, fixture.otherProvider);
    const reported = await recorder.take(3);
    expect(reported.map(({ rule }) => rule.id).sort()).toEqual([farther.id, oldest.id, younger.id].sort());
    await expect.poll(() => statusOf(lambda)).toBeUndefined();
    // The emulator did not move it.
    expect((await root.get(pathOf(lambda))).body).toEqual(lambda);
  });
  it('a promotion by a rule of the target environment, not of the source’s', async () => {
    const fixture = await setScene();
    const container = await makeContainer(fixture);
    await ruleAt(fixture.environment, ['container.promote.pre']);
    expect((await promote(container, fixture.otherEnvironmentId)).status).toBe(503);
    const rule = await ruleAt(fixture.otherEnvironment, ['container.promote']);
    expect((await promote(container, fixture.otherEnvironmentId)).status).toBe(202);
    const reported = await recorder.take(2);
    expect(reported.find((report) => report.rule.id === rule.id)).toMatchObject({
      action: 'container.promote.pre',
      target_env_id: fixture.otherEnvironmentId,
    });
    await expect.poll(() => statusOf(container)).toBe(container.properties.status);
    expect(await named(fixture.otherEnvironment, 'containers')).toEqual([]);
  });
  it('a rule for the phase after does not take over', async () => {
    const fixture = await setScene();
    const lambda = await makeLambda(fixture);
    await ruleAt(fixture.environment, ['lambda.migrate.post']);
    await migrate(lambda, fixture.otherProvider);
    await replaced(fixture.environment, lambda.id);
    await recorder.take(1);
  });
  it('when it fails, the source’s status returns and says why', async () => {
    const fixture = await setScene();
    const lambda = await makeLambda(fixture);
    const code = "exports.run = (event, context, callback) => callback('no way');";
    const failing = await root.create('/root/lambdas', lambdaBody(fixture, make.fresh('failing'), { code }));
    await ruleAt(fixture.environment, ['lambda.migrate'], failing.id);
    await migrate(lambda, fixture.otherProvider);
    await expect.poll(() => statusOf(lambda)).toBeUndefined();
    const { status_detail } = (await root.get(pathOf(lambda))).body.properties;
    expect(status_detail.reason).toContain('no way');
  });
});
