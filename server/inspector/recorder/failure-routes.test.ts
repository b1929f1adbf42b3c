import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeAccount, rootPairOf } from '../../testing/account.ts';
import { basic, send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../../testing/resource-factory.ts';
import { type Body, createTenant, grant, type Tenant } from '../../testing/tenant.ts';

/** A web form's lambda, the shortest there can be: whatever the CRM says, the visitor reads SUCCESS. */
const code = `exports.run = async (event) => {
  const { name, fail } = JSON.parse(event);
  if (fail) throw new Error(fail);
  const { CRM_API_BASEPATH, CRM_OID } = process.env;
  const form = new URLSearchParams({ ...(CRM_OID && { oid: CRM_OID }), last_name: name });
  await fetch('https://' + CRM_API_BASEPATH + '/servlet/servlet.WebToLead', { method: 'POST', body: form });
  return 'SUCCESS';
};`;

const platform = sharedPlatform();
let acme: Tenant;
let root: string;
let make: ResourceFactory;

beforeAll(async () => {
  root = rootPairOf(platform);
  make = resourceFactoryFor(platform.root);
  acme = await createTenant(platform.root, 'acme');
});

const inspect = (method: string, path: string, body?: object, auth = root) =>
  send(method, `${platform.emulator.baseUrl}/inspect${path}`, { auth, ...(body && { body }) });

/** A form's lambda behind an endpoint of its own. */
async function makeForm() {
  const env = { CRM_API_BASEPATH: 'crm.example.com', CRM_OID: '00D000000000001' };
  const lambda = await make.lambda(acme, { code, env });
  const endpoint = await make.endpoint(await make.api(acme), lambda);
  const submit = async (body: object) => {
    const answer = await send('POST', endpoint.properties.public_url, { body });
    return answer.headers.get('x-terrarium-execution-id') ?? '';
  };
  const patch = (operations: object[]) => platform.root.patch(`/acme/lambdas/${lambda.id}`, operations);
  const leads = async () => {
    const { body } = await inspect('GET', '/leads');
    return body.flatMap(({ sender, mapped }: Body) => (sender?.lambdaId === lambda.id ? [mapped.lastName] : []));
  };
  const failures = async () => {
    const { body } = await inspect('GET', '/failures');
    return body.failures.filter(({ lambdaId }: Body) => lambdaId === lambda.id);
  };
  return { lambda, endpoint, submit, patch, leads, failures };
}
const newestCommit = async (): Promise<number> => (await inspect('GET', '/history?limit=1')).body.newest;
const failureOf = async (id: string) => (await inspect('GET', `/failures/${id}`)).body;

describe('A run of failures', () => {
  it('is shown with its cause and repaired in one step: the commit is reverted, and undelivered forms are sent again, once', async () => {
    const form = await makeForm();
    const good = await form.submit({ name: 'Lovelace' });
    await platform.root.patch(acme.environment, [{ op: 'add', path: '/description', value: 'not the cause' }]);
    await form.patch([{ op: 'remove', path: '/properties/env/CRM_OID' }]);
    const seq = await newestCommit();
    await form.patch([{ op: 'add', path: '/properties/timeout', value: 20 }]);
    const first = await form.submit({ name: 'Hopper' });
    const second = await form.submit({ name: 'Hamilton' });

    const reported = await failureOf(second);
    expect(reported).toMatchObject({
      lambdaId: form.lambda.id,
      kind: 'form',
      text: expect.stringMatching(/^the CRM rejected this form: .*'oid'/),
      count: 2,
      lost: 2,
      first,
      newest: second,
      isOver: false,
      lastGood: { executionId: good },
      likelyCauses: [
        {
          seq,
          by: 'root',
          via: 'api',
          resource: { id: form.lambda.id },
          changes: ['removed CRM_OID'],
          isUndoable: true,
        },
        { seq: seq + 1, changes: ['set timeout'], isUndoable: true },
      ],
    });
    expect(await failureOf(first)).toEqual(reported);
    expect(await form.failures()).toEqual([reported]);
    expect(
      (await inspect('GET', `/invocations?q=outbound:error&lambda=${form.lambda.id}`)).body.invocations,
    ).toMatchObject([
      { executionId: second, outcome: { ok: true }, outboundCalls: 1, outboundFailures: 1 },
      { executionId: first },
    ]);
    expect(
      (await inspect('GET', `/traffic?q=outbound:error&endpoint=${form.endpoint.id}`)).body.requests,
    ).toMatchObject([{ executionId: second, status: 200, outboundFailures: 1 }, { executionId: first }]);
    expect((await inspect('GET', `/leads?refused=true&execution=${first}`)).body).toMatchObject([
      { mapped: { lastName: 'Hopper' }, refused: { status: 400 } },
    ]);

    const { lambdas } = (await inspect('GET', '/lambda-use')).body;
    expect(lambdas.find(({ lambdaId }: Body) => lambdaId === form.lambda.id)).toMatchObject({
      calls: 3,
      failed: 2,
      last: { executionId: second },
      lastFailure: { executionId: second, text: reported.text },
    });

    const repaired = await inspect('POST', `/failures/${second}/replay`, { revert: seq });
    expect(repaired).toMatchObject({
      status: 200,
      body: {
        commit: { cause: { note: `revert of commit ${seq}` } },
        replayed: 2,
        good: 2,
        notKept: 0,
        left: 0,
        invocations: [
          { replayOf: first, isGood: true },
          { replayOf: second, isGood: true },
        ],
      },
    });
    expect((await form.leads()).toSorted()).toEqual(['Hamilton', 'Hopper', 'Lovelace']);
    expect(await form.failures()).toEqual([]);
    expect(await failureOf(second)).toMatchObject({ count: 2, lost: 0, isOver: true });

    // The rejected form and the lead that it became refer to each other.
    const [hopper] = (await inspect('GET', `/leads?refused=true&execution=${first}`)).body;
    const { body: leads } = await inspect('GET', '/leads');
    const arrived = leads.find(({ id }: Body) => id === hopper.deliveredAs?.id);
    expect(arrived).toMatchObject({ mapped: { lastName: 'Hopper' }, refusedBefore: [hopper.id] });
    expect(leads.find(({ mapped }: Body) => mapped.lastName === 'Lovelace')).not.toHaveProperty('refusedBefore');

    const again = await inspect('POST', `/failures/${first}/replay`);
    expect(again.body).toMatchObject({ replayed: 0, good: 0 });
    expect(await form.leads()).toHaveLength(3);
  });

  it('is replayed a few at a time, skips repeated failures, and can be canceled', async () => {
    const form = await makeForm();
    await form.submit({ name: 'Good' });
    const lost: string[] = [];
    for (const name of ['A', 'B', 'C']) lost.push(await form.submit({ name, fail: 'no such luck' }));
    const ask = (options: object) => inspect('POST', `/failures/${lost[0]}/replay`, options);
    const failedAgain = (id: string | undefined) => [{ replayOf: id, isGood: false }];
    expect((await ask({ most: 1 })).body).toMatchObject({ replayed: 1, left: 2, invocations: failedAgain(lost[0]) });
    expect((await ask({ most: 1, skip: 1 })).body).toMatchObject({ left: 1, invocations: failedAgain(lost[1]) });
    expect((await ask({ most: 1, skip: 2 })).body).toMatchObject({ left: 0, invocations: failedAgain(lost[2]) });
    expect((await ask({ skip: 3 })).body).toMatchObject({ replayed: 0, left: 0 });
    expect(await ask({ most: 501 })).toMatchObject(refusal(400));
    // Each is one loss still, however often it failed.
    expect(await failureOf(lost[0] ?? '')).toMatchObject({ count: 6, lost: 3 });
  });

  it('can have its cause above the lambda, and remains failed while the cause exists', async () => {
    const form = await makeForm();
    await form.patch([{ op: 'remove', path: '/properties/env/CRM_API_BASEPATH' }]);
    const above = { CRM_API_BASEPATH: 'crm.example.com', UNTOUCHED: '1' };
    await platform.root.patch(acme.environment, [{ op: 'add', path: '/properties/env', value: above }]);
    await form.submit({ name: 'Good' });
    const now = { CRM_API_BASEPATH: 'forms.example.com:9443', UNTOUCHED: '1' };
    await platform.root.patch(acme.environment, [{ op: 'replace', path: '/properties/env', value: now }]);
    await inspect('PUT', '/outbound', { rules: [{ host: '{crm}', action: 'fail', status: 503, enabled: true }] });
    try {
      const lost = await form.submit({ name: 'Lost' });
      expect(await failureOf(lost)).toMatchObject({
        kind: 'call',
        text: 'POST to forms.example.com:9443 returned 503',
        rule: { text: expect.stringContaining('503') },
        activity: [{ kind: 'rules', text: expect.stringMatching(/^outbound rule on: .*503/) }],
        likelyCauses: [
          { resource: { type: expect.stringMatching(/Environment$/) }, changes: ['changed CRM_API_BASEPATH'] },
        ],
      });
      const newest = (await inspect('GET', '/marks?parts=1')).body.marks[0];
      expect(newest).toMatchObject({ kind: 'rules' });
      const before = (await inspect('GET', `/marks?to=${Date.parse(newest.at) - 1}&parts=1`)).body.marks[0];
      expect(before).toMatchObject({
        kind: 'commit',
        text: expect.stringMatching(/^root changed .*: changed CRM_API_BASEPATH$/),
      });
      const still = await inspect('POST', `/failures/${lost}/replay`);
      expect(still.body).toMatchObject({ replayed: 1, good: 0, left: 0 });
      // The replay failed as well; it is the same loss.
      expect(await failureOf(lost)).toMatchObject({ count: 2, lost: 1 });
    } finally {
      await inspect('PUT', '/outbound', { rules: [] });
    }
  });

  it('is shown between the changes of its time, which are counted however many they are', async () => {
    // Later than the changes of other tests.
    const from = Date.now() + 1;
    while (Date.now() < from) await nextTurn();
    for (let count = 0; count < 150; count++)
      await platform.root.patch(acme.environment, [{ op: 'add', path: '/description', value: `text ${count}` }]);
    const { marks, total, isCut } = (await inspect('GET', `/marks?from=${from}&to=${Date.now()}&parts=8`)).body;
    expect(marks.length).toBeLessThanOrEqual(9);
    expect([total, isCut]).toEqual([150, false]);
    expect(marks.reduce((sum: number, { count }: Body) => sum + count, 0)).toBe(150);
    expect(marks[0]).toMatchObject({
      seq: await newestCommit(),
      text: expect.stringContaining('changed its description'),
    });
    expect((await inspect('GET', `/marks?from=0&to=${from - 1}&parts=1`)).body.total).toBeGreaterThan(0);
  });

  it('does not recommend to undo a change before which no call succeeded: that would delete new work', async () => {
    const form = await makeForm();
    await form.patch([{ op: 'remove', path: '/properties/env/CRM_OID' }]);
    const failed = await form.submit({ name: 'First' });
    const { lastGood, likelyCauses } = await failureOf(failed);
    expect(lastGood).toBeUndefined();
    expect(likelyCauses[0]).toMatchObject({ changes: ['removed CRM_OID'] });
    expect(likelyCauses.at(-1)).toMatchObject({ resource: { id: form.lambda.id }, changes: ['created it'] });
    expect(likelyCauses.filter(({ isUndoable }: Body) => isUndoable)).toEqual([]);
  });

  it('does not recommend to undo a commit that created something, even where calls succeeded before it', async () => {
    const form = await makeForm();
    await form.submit({ name: 'Good' });
    await make.endpoint(await make.api(acme), form.lambda);
    const failed = await form.submit({ fail: 'no such luck' });
    expect((await failureOf(failed)).likelyCauses).toMatchObject([
      { changes: ['created it'], isUndoable: false },
      { changes: ['created it'], isUndoable: false },
    ]);
  });

  it('is one for each error, and is listed until as many invocations in a row succeeded', async () => {
    const form = await makeForm();
    const listed = async () =>
      (await form.failures()).map(({ text, count, succeeded }: Body) => [text, count, succeeded]);
    await form.submit({ name: 'Good' });
    // Numbers and quoted values differ from call to call, but not the error.
    await form.submit({ fail: "no order 17 of 'Ada'" });
    await form.submit({ fail: "no order 4 of 'Grace'" });
    await form.submit({ fail: 'out of stock' });
    const orders = ["no order 4 of 'Grace'", 2];
    expect(await listed()).toEqual([
      [...orders, 0],
      ['out of stock', 1, 0],
    ]);
    await form.submit({ name: 'Good' });
    expect(await listed()).toEqual([[...orders, 1]]);
    // It fails now and then, and is the same failure.
    await form.submit({ fail: 'out of stock' });
    await form.submit({ name: 'Good' });
    expect(await listed()).toEqual([['out of stock', 2, 2]]);
    await form.submit({ name: 'Good' });
    expect(await listed()).toEqual([]);
  });

  it('does not recommend to undo the newest change if invocations succeeded since', async () => {
    const form = await makeForm();
    await form.submit({ name: 'Good' });
    await form.patch([{ op: 'add', path: '/properties/timeout', value: 20 }]);
    await form.submit({ fail: 'no such luck' });
    const failed = await form.submit({ fail: 'no such luck' });
    expect((await failureOf(failed)).likelyCauses).toMatchObject([{ isUndoable: true }]);
    await form.submit({ name: 'Good too' });
    expect((await failureOf(failed)).likelyCauses).toMatchObject([{ isUndoable: false }]);
  });

  it('is made good by the replay of a replay, too', async () => {
    const form = await makeForm();
    await form.patch([{ op: 'remove', path: '/properties/env/CRM_OID' }]);
    const lost = await form.submit({ name: 'Hopper' });
    const { executionId } = (await inspect('POST', `/invocations/${lost}/replay`)).body;
    await form.patch([{ op: 'add', path: '/properties/env/CRM_OID', value: '00D000000000001' }]);
    expect(await failureOf(lost)).toMatchObject({ count: 2, lost: 1 });
    await inspect('POST', `/invocations/${executionId}/replay`);
    expect(await failureOf(lost)).toMatchObject({ count: 2, lost: 0 });
    expect(await form.failures()).toEqual([]);
  });

  it('of a body that is not JSON is the fault of the request, whatever was changed before', async () => {
    const form = await makeForm();
    await form.submit({ name: 'Good' });
    await form.patch([{ op: 'add', path: '/properties/timeout', value: 20 }]);
    const { headers } = await send('POST', form.endpoint.properties.public_url, {
      body: '{"name": "Bob",}',
    });
    const failed = await failureOf(headers.get('x-terrarium-execution-id') ?? '');
    expect(failed).toMatchObject({
      text: expect.stringMatching(/^the request body is not valid JSON: .*position 15/),
      isInputInvalid: true,
      likelyCauses: [],
      lost: 1,
    });
    // The same error about something else than the request has its cause elsewhere.
    const other = await form.submit({ fail: 'Unexpected end of JSON input' });
    expect(await failureOf(other)).toMatchObject({
      isInputInvalid: false,
      likelyCauses: [{ changes: ['set timeout'], isUndoable: true }],
    });
  });

  it('does not recommend to undo what is undone, or was changed again since', async () => {
    const form = await makeForm();
    await form.submit({ name: 'Good' });
    await form.patch([{ op: 'add', path: '/properties/timeout', value: 20 }]);
    const failed = await form.submit({ fail: 'no such luck' });
    const cause = async () => (await failureOf(failed)).likelyCauses;
    expect(await cause()).toMatchObject([{ isUndoable: true, isUndone: false }]);
    await form.patch([{ op: 'replace', path: '/properties/timeout', value: 21 }]);
    expect(await cause()).toMatchObject([{ isUndoable: false, isUndone: false }]);
    await form.patch([{ op: 'remove', path: '/properties/timeout' }]);
    expect(await cause()).toMatchObject([{ isUndoable: false, isUndone: true }]);
  });

  it('has the rule that made its last call fail, even if the lambda then failed, and whether it is enabled', async () => {
    const form = await makeForm();
    const rule = { host: '{crm}', action: 'fail', error: 'ECONNREFUSED', enabled: true };
    const { rules } = (await inspect('PUT', '/outbound', { rules: [rule] })).body;
    try {
      const failed = await form.submit({ name: 'Lost' });
      const ruleOf = async () => (await failureOf(failed)).rule;
      expect(await failureOf(failed)).toMatchObject({ kind: 'invocation', rule: { id: rules[0].id, isEnabled: true } });
      await inspect('PUT', '/outbound', { rules: [{ ...rules[0], enabled: false }] });
      expect(await ruleOf()).toMatchObject({ id: rules[0].id, isEnabled: false });
      await inspect('PUT', '/outbound', { rules: [] });
      expect(await ruleOf()).toMatchObject({ id: rules[0].id, isEnabled: false });
      // An equal rule with another id has the same effect; a rule that was edited has another effect.
      const replacing = (await inspect('PUT', '/outbound', { rules: [rule] })).body.rules[0];
      expect(await ruleOf()).toMatchObject({ id: replacing.id, isEnabled: true });
      await inspect('PUT', '/outbound', { rules: [rule, rules[0]] });
      expect(await ruleOf()).toMatchObject({ id: rules[0].id, isEnabled: true });
      await inspect('PUT', '/outbound', { rules: [{ ...rules[0], error: 'ETIMEDOUT' }] });
      expect(await ruleOf()).toMatchObject({
        id: rules[0].id,
        text: expect.stringMatching(/REFUSED/),
        isEnabled: false,
      });
    } finally {
      await inspect('PUT', '/outbound', { rules: [] });
    }
  });

  it('does not contain calls that failed with another status, because a rule that caused some did not cause the others', async () => {
    const form = await makeForm();
    await form.patch([{ op: 'remove', path: '/properties/env/CRM_OID' }]);
    const rejected = await form.submit({ name: 'Rejected by the CRM' });
    await inspect('PUT', '/outbound', { rules: [{ host: '{crm}', action: 'fail', status: 500, enabled: true }] });
    const failed = await form.submit({ name: 'Failed by a rule' });
    await inspect('PUT', '/outbound', { rules: [] });
    expect(await failureOf(rejected)).toMatchObject({ count: 1 });
    expect(await failureOf(failed)).toMatchObject({ count: 1, text: expect.stringContaining('500') });
  });

  it('has no known cause if nothing was changed, and ends with a success', async () => {
    const form = await makeForm();
    await form.submit({ name: 'Good' });
    const failed = await form.submit({ fail: 'no such luck' });
    expect(await failureOf(failed)).toMatchObject({
      kind: 'invocation',
      text: 'no such luck',
      count: 1,
      isOver: false,
      likelyCauses: [],
    });
    const good = await form.submit({ name: 'Good again' });
    expect(await failureOf(failed)).toMatchObject({ count: 1, isOver: true });
    expect(await inspect('GET', `/failures/${good}`)).toMatchObject(refusal(404));
    expect(await inspect('GET', `/failures/${randomUUID()}`)).toMatchObject(refusal(404));
  });

  it('is undone by root only; replayed by who may see it and invoke the lambda', async () => {
    const form = await makeForm();
    await form.submit({ name: 'Good' });
    await form.patch([{ op: 'remove', path: '/properties/env/CRM_OID' }]);
    const seq = await newestCommit();
    const lost = await form.submit({ name: 'Lost' });
    const user = await makeAccount(platform, 'outsider');
    const auth = user.bearer;
    expect(await inspect('GET', `/failures/${lost}`, undefined, auth)).toMatchObject(refusal(404));
    expect(await inspect('POST', `/failures/${lost}/replay`, {}, auth)).toMatchObject(refusal(403));
    await grant(platform.root, `/acme/lambdas/${form.lambda.id}`, 'lambda.view', user.id);
    expect(await inspect('POST', `/failures/${lost}/replay`, {}, auth)).toMatchObject(refusal(403));
    await grant(platform.root, `/acme/lambdas/${form.lambda.id}`, 'lambda.invoke', user.id);
    expect(await inspect('POST', `/failures/${lost}/replay`, { revert: seq }, auth)).toMatchObject(refusal(403));
    expect((await inspect('POST', `/failures/${lost}/replay`, { revert: 'x' })).status).toBe(400);
    expect((await inspect('POST', `/failures/${lost}/replay`, {}, auth)).body).toMatchObject({ replayed: 1, good: 0 });
    expect(await inspect('GET', '/failures', undefined, basic('no', 'body'))).toMatchObject(refusal(401));
  });
});
