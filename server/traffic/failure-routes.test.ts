import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeAccount, rootPairOf } from '../../e2e/account.ts';
import { basic, send } from '../../e2e/checked-client.ts';
import { type Maker, makerFor } from '../../e2e/maker.ts';
import { type Body, grant, makePlace, type Place } from '../../e2e/place.ts';
import { type Platform, refusal, startPlatform } from '../../e2e/platform.ts';

/** A web form's lambda, the shortest there can be: whatever the CRM says, the visitor reads SUCCESS. */
const code = `exports.run = async (event) => {
  const { name, fail } = JSON.parse(event);
  if (fail) throw new Error(fail);
  const { CRM_API_BASEPATH, CRM_OID } = process.env;
  const form = new URLSearchParams({ ...(CRM_OID && { oid: CRM_OID }), last_name: name });
  await fetch('https://' + CRM_API_BASEPATH + '/servlet/servlet.WebToLead', { method: 'POST', body: form });
  return 'SUCCESS';
};`;

let platform: Platform;
let acme: Place;
let root: string;
let make: Maker;

beforeAll(async () => {
  platform = await startPlatform();
  root = rootPairOf(platform);
  make = makerFor(platform.root);
  acme = await makePlace(platform.root, 'acme');
});
afterAll(() => platform?.stop());

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
  return { lambda, submit, patch, leads };
}
const newestCommit = async (): Promise<number> => (await inspect('GET', '/history?limit=1')).body.newest;
const failureOf = async (id: string) => (await inspect('GET', `/failures/${id}`)).body;

describe('A run of failures', () => {
  it('is told with its cause, and mended in one step: the commit undone, what was lost sent again, once', async () => {
    const form = await makeForm();
    const good = await form.submit({ name: 'Lovelace' });
    await platform.root.patch(acme.environment, [{ op: 'add', path: '/description', value: 'not the cause' }]);
    await form.patch([{ op: 'remove', path: '/properties/env/CRM_OID' }]);
    const seq = await newestCommit();
    await form.patch([{ op: 'add', path: '/properties/timeout', value: 20 }]);
    const first = await form.submit({ name: 'Hopper' });
    const second = await form.submit({ name: 'Hamilton' });

    const told = await failureOf(second);
    expect(told).toMatchObject({
      lambdaId: form.lambda.id,
      kind: 'form',
      text: expect.stringMatching(/^the CRM refused this form: .*'oid'/),
      count: 2,
      lost: 2,
      first,
      newest: second,
      isOver: false,
      lastGood: { executionId: good },
      suspects: [
        { seq, by: 'root', via: 'api', resource: { id: form.lambda.id }, deeds: ['removed CRM_OID'] },
        { seq: seq + 1, deeds: ['set timeout'] },
      ],
    });
    expect(await failureOf(first)).toEqual(told);
    expect((await inspect('GET', '/failures')).body.failures).toEqual([told]);
    expect((await inspect('GET', '/invocations?q=outbound:error')).body.invocations).toMatchObject([
      { executionId: second, outcome: { ok: true }, outboundCalls: 1, outboundFailures: 1 },
      { executionId: first },
    ]);
    expect((await inspect('GET', '/traffic?q=outbound:error')).body.requests).toMatchObject([
      { executionId: second, status: 200, outboundFailures: 1 },
      { executionId: first },
    ]);
    expect((await inspect('GET', `/leads?refused=true&execution=${first}`)).body).toMatchObject([
      { mapped: { lastName: 'Hopper' }, refused: { status: 400 } },
    ]);

    const { lambdas } = (await inspect('GET', '/lambda-use')).body;
    expect(lambdas.find(({ lambdaId }: Body) => lambdaId === form.lambda.id)).toMatchObject({
      calls: 3,
      failed: 2,
      last: { executionId: second },
      lastFailure: { executionId: second, text: told.text },
    });

    const mended = await inspect('POST', `/failures/${second}/replay`, { revert: seq });
    expect(mended).toMatchObject({
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
    expect((await inspect('GET', '/failures')).body.failures).toEqual([]);
    expect(await failureOf(second)).toMatchObject({ count: 2, lost: 0, isOver: true });

    const again = await inspect('POST', `/failures/${first}/replay`);
    expect(again.body).toMatchObject({ replayed: 0, good: 0 });
    expect(await form.leads()).toHaveLength(3);
  });

  it('is replayed a few at a time: what failed once more is passed over, and one can stop in between', async () => {
    const form = await makeForm();
    await form.submit({ name: 'Good' });
    const lost: string[] = [];
    for (const name of ['A', 'B', 'C']) lost.push(await form.submit({ name, fail: 'no such luck' }));
    const ask = (asked: object) => inspect('POST', `/failures/${lost[0]}/replay`, asked);
    const failedAgain = (id: string | undefined) => [{ replayOf: id, isGood: false }];
    expect((await ask({ most: 1 })).body).toMatchObject({ replayed: 1, left: 2, invocations: failedAgain(lost[0]) });
    expect((await ask({ most: 1, skip: 1 })).body).toMatchObject({ left: 1, invocations: failedAgain(lost[1]) });
    expect((await ask({ most: 1, skip: 2 })).body).toMatchObject({ left: 0, invocations: failedAgain(lost[2]) });
    expect((await ask({ skip: 3 })).body).toMatchObject({ replayed: 0, left: 0 });
    expect(await ask({ most: 501 })).toMatchObject(refusal(400));
    // Each is one loss still, however often it failed.
    expect(await failureOf(lost[0] ?? '')).toMatchObject({ count: 6, lost: 3 });
  });

  it('may have its cause in what the lambda is below, and is still lost while the cause is there', async () => {
    const form = await makeForm();
    await form.patch([{ op: 'remove', path: '/properties/env/CRM_API_BASEPATH' }]);
    const above = { CRM_API_BASEPATH: 'crm.example.com', UNTOUCHED: '1' };
    await platform.root.patch(acme.environment, [{ op: 'add', path: '/properties/env', value: above }]);
    await form.submit({ name: 'Good' });
    const now = { CRM_API_BASEPATH: '127.0.0.1:9443', UNTOUCHED: '1' };
    await platform.root.patch(acme.environment, [{ op: 'replace', path: '/properties/env', value: now }]);
    await inspect('PUT', '/outbound', { rules: [{ host: '{crm}', action: 'fail', status: 503, enabled: true }] });
    try {
      const lost = await form.submit({ name: 'Lost' });
      expect(await failureOf(lost)).toMatchObject({
        kind: 'call',
        text: 'POST to 127.0.0.1:9443 was answered 503',
        rule: { text: expect.stringContaining('503') },
        happenings: [{ kind: 'rules', text: expect.stringMatching(/^outbound rule on: .*503/) }],
        suspects: [{ resource: { type: expect.stringMatching(/Environment$/) }, deeds: ['changed CRM_API_BASEPATH'] }],
      });
      const { marks } = (await inspect('GET', '/marks?from=0')).body;
      expect(marks[0]).toMatchObject({ kind: 'rules' });
      expect(marks[1]).toMatchObject({
        kind: 'commit',
        text: expect.stringMatching(/^root: .*, changed CRM_API_BASEPATH$/),
      });
      const still = await inspect('POST', `/failures/${lost}/replay`);
      expect(still.body).toMatchObject({ replayed: 1, good: 0, left: 0 });
      // The replay failed as well; it is the same loss.
      expect(await failureOf(lost)).toMatchObject({ count: 2, lost: 1 });
    } finally {
      await inspect('PUT', '/outbound', { rules: [] });
    }
  });

  it('has no cause that is known where nothing was changed, and ends with what goes well', async () => {
    const form = await makeForm();
    await form.submit({ name: 'Good' });
    const failed = await form.submit({ fail: 'no such luck' });
    expect(await failureOf(failed)).toMatchObject({
      kind: 'invocation',
      text: 'no such luck',
      count: 1,
      isOver: false,
      suspects: [],
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
    const user = await makeAccount(platform, 'stranger');
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
