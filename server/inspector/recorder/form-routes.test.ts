import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeAccount, rootPairOf } from '../../testing/account.ts';
import { send } from '../../testing/checked-client.ts';
import { refusal, sharedPlatform } from '../../testing/platform.ts';
import { type ResourceFactory, resourceFactoryFor } from '../../testing/resource-factory.ts';
import { type Body, createTenant, type Tenant } from '../../testing/tenant.ts';

/** The lambda of a web form, which does what the message of the form tells it to. */
const code = `exports.run = async (event) => {
  const { payload: { email, message } } = JSON.parse(event);
  if (message === 'throw') throw new Error('broken for ' + email);
  if (message === 'nothing') return 'SUCCESS';
  const form = new URLSearchParams({ ...(message !== 'no oid' && process.env.CRM_OID && { oid: process.env.CRM_OID }), email });
  const path = message?.startsWith('/') ? message : message === 'typo' ? process.env.CRM_PATH : '/servlet/servlet.WebToLead';
  if (message === 'twice') await fetch('https://crm.example.com' + path, { method: 'POST', body: form });
  await fetch('https://crm.example.com' + path, { method: 'POST', body: form });
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
const formsOf = async (query: string) => (await inspect('GET', `/forms?${query}`)).body.forms;

/** A form's lambda behind an endpoint of its own, and the person who fills the form in. */
async function makeForm(endpointProperties: object = {}, tenant = acme, variables?: Record<string, string>) {
  const person = `${randomUUID().slice(0, 8)}@example.com`;
  const env = variables ?? {
    CRM_API_BASEPATH: 'crm.example.com',
    CRM_OID: '00D000000000001',
    CRM_PATH: '/servlet/servlet.WebToLeed',
  };
  const lambda = await make.lambda(tenant, { code, env });
  const endpoint = await make.endpoint(await make.api(tenant), lambda, endpointProperties);
  const url: string = endpoint.properties.public_url;
  const submit = (message = '') =>
    send('POST', url, { body: { payload: { email: person, firstName: 'Grace', message } } });
  /** The stops of all forms of this person, newest first. */
  const stops = async (q = person) => (await formsOf(`q=${q}`)).map(({ stop }: Body) => stop);
  return { person, lambda, endpoint, url, submit, stops };
}

describe('GET /inspect/forms', () => {
  it('lists each form with where it stopped: at the CRM, in the lambda, in its body, or nowhere', async () => {
    const { person, url, lambda, submit, stops } = await makeForm();
    await submit();
    await submit('no oid');
    await submit('throw');
    await submit('nothing');
    await fetch(url, { method: 'POST', body: `{"payload": {"email": "${person}",}}` });
    expect(await stops()).toEqual(['invalid', 'unsent', 'failed', 'rejected', 'delivered']);
    expect(await stops(`${person} is:lost`)).toHaveLength(4);
    // Words of saved views of earlier versions.
    expect(await stops(`${person} is:taken is:received`)).toEqual(['delivered']);
    expect(await stops(`${person} is:refused`)).toEqual(['rejected']);
    const [failed] = await formsOf(`q=${person} is:failed`);
    expect(failed).toMatchObject({
      lambdaId: lambda.id,
      mapped: { email: person, firstName: 'Grace' },
      reason: `broken for ${person}`,
    });
    expect((await inspect('GET', `/figures?of=forms&q=${person}`)).body).toMatchObject({
      ok: 1,
      refused: 0,
      failed: 4,
    });
    const [delivered] = await formsOf(`q=${person} is:delivered`);
    expect(delivered.lead).toBeUndefined();
    expect(await formsOf(`id=${delivered.id}`)).toMatchObject([
      { ...delivered, seq: expect.any(Number), lead: { id: delivered.id } },
    ]);
    expect(await formsOf(`id=${failed.id}`)).toMatchObject([{ stop: 'failed' }]);
    expect(await formsOf(`id=${randomUUID()}`)).toEqual([]);
  });

  it('finds forms that the rate limit or a missing credential stopped, by a text in their body', async () => {
    const limited = await makeForm({ plugins: { rateLimit: { enabled: true, perMinute: 1 } } });
    await limited.submit();
    expect(await limited.submit()).toMatchObject({ status: 429 });
    expect(await limited.stops()).toEqual(['limited', 'delivered']);
    const [form] = await formsOf(`q=${limited.person} is:limited`);
    expect(form).toMatchObject({
      endpointId: limited.endpoint.id,
      lambdaId: limited.lambda.id,
      lambdaName: limited.lambda.name,
      mapped: { email: limited.person, firstName: 'Grace' },
      reason: '429: API rate limit exceeded',
    });
    const secured = await makeForm({ plugins: { platformSecurity: { enabled: true } } });
    expect(await secured.submit()).toMatchObject({ status: 401 });
    expect(await secured.stops()).toEqual(['unauthorized']);
    expect(await formsOf(`id=${form.id}`)).toMatchObject([{ stop: 'limited' }]);
  });

  it('counts a form that the gateway rejected as delivered when the same form is sent again and arrives', async () => {
    const { person, endpoint, submit, stops } = await makeForm({ plugins: { platformSecurity: { enabled: true } } });
    await submit();
    await submit('another message');
    await platform.root.patch(`/acme/apiendpoints/${endpoint.id}`, [{ op: 'remove', path: '/properties/plugins' }]);
    await submit();
    expect(await stops()).toEqual(['delivered', 'unauthorized', 'replayed']);
    expect((await inspect('GET', `/figures?of=forms&q=${person}`)).body).toMatchObject({
      ok: 1,
      refused: 1,
      failed: 1,
    });
  });

  it('counts a form that the gateway rejected as delivered when the window sends it again with edits, and it arrives', async () => {
    const { person, url, endpoint, submit, stops } = await makeForm({
      plugins: { platformSecurity: { enabled: true } },
    });
    const sendAgain = async (email: string, endpointUrl = url) => {
      const [{ requestSeq }] = await formsOf(`q=${person} is:unauthorized`);
      await inspect('POST', '/requests', {
        method: 'POST',
        path: new URL(endpointUrl).pathname,
        headers: [['Content-Type', 'application/json']],
        body: JSON.stringify({ payload: { email } }),
        replayOf: requestSeq,
      });
    };
    await submit();
    await sendAgain(`first-${person}`);
    expect(await stops()).toEqual(['unauthorized', 'unauthorized']);
    // A visitor's own header links nothing, and neither does a request to another endpoint.
    const [{ requestSeq: lastSeq }] = await formsOf(`q=${person}`);
    const replayHeaders = { 'X-Terrarium-Replay-Of': String(lastSeq) };
    await platform.root.patch(`/acme/apiendpoints/${endpoint.id}`, [{ op: 'remove', path: '/properties/plugins' }]);
    await send('POST', url, { headers: replayHeaders, body: { payload: { email: `visitor-${person}` } } });
    await sendAgain(`elsewhere-${person}`, (await makeForm()).url);
    expect(await stops()).toEqual(['delivered', 'delivered', 'unauthorized', 'unauthorized']);
    await sendAgain(`second-${person}`);
    expect(await stops()).toEqual(['delivered', 'delivered', 'delivered', 'replayed', 'replayed']);
    const [{ executionId }] = await formsOf(`q=second-${person}`);
    const { body: invocation } = await inspect('GET', `/invocations/${executionId}`);
    expect(JSON.stringify(invocation)).not.toMatch(/replay-of/i);
    const [first] = (await formsOf(`q=${person}`)).slice(-1);
    expect(await formsOf(`id=${first.id}`)).toMatchObject([{ stop: 'replayed' }]);
  });

  it('lists a form that an outbound rule answered instead of the CRM, and its delivery by a replay', async () => {
    const { person, lambda, submit, stops } = await makeForm();
    await platform.root.patch(`/acme/lambdas/${lambda.id}`, [
      { op: 'add', path: '/properties/env/CRM_API_BASEPATH', value: 'https://crm.example.com/' },
    ]);
    const before = (await inspect('GET', '/outbound')).body.rules;
    await inspect('PUT', '/outbound', { rules: [{ host: '{crm}', action: 'answer', status: 200, enabled: true }] });
    await submit();
    await inspect('PUT', '/outbound', { rules: [{ host: 'crm.example.com', action: 'answer', enabled: true }] });
    await submit('typo');
    await inspect('PUT', '/outbound', { rules: before });
    expect(await stops()).toEqual(['answered', 'answered']);
    const [{ executionId: ofTypo }] = await formsOf(`q=${person}`);
    await platform.root.patch(`/acme/lambdas/${lambda.id}`, [{ op: 'remove', path: '/properties/env' }]);
    expect(await formsOf(`id=${ofTypo}`)).toMatchObject([
      { stop: 'answered', reason: 'an outbound rule responded instead of the CRM' },
    ]);
    await platform.root.patch(`/acme/lambdas/${lambda.id}`, [
      { op: 'add', path: '/properties/env', value: lambda.properties.env },
    ]);
    const [, { executionId, rule, reason }] = await formsOf(`q=${person} is:answered`);
    expect(rule).toMatchObject({ text: 'answer with 200 for {crm}' });
    expect(reason).toBe('an outbound rule responded with 200 instead of the CRM');
    await inspect('POST', `/invocations/${executionId}/replay`);
    expect(await stops()).toEqual(['delivered', 'answered', 'replayed']);
  });

  it('does not list a delivered form as answered by a rule that applied to an earlier attempt or responded with an error', async () => {
    const { person, submit, stops } = await makeForm();
    const before = (await inspect('GET', '/outbound')).body.rules;
    for (const status of [200, 503]) {
      const rule = { host: '{crm}', action: 'answer', status, times: 1, enabled: true };
      await inspect('PUT', '/outbound', { rules: [rule] });
      await submit('twice');
    }
    await inspect('PUT', '/outbound', { rules: before });
    expect(await stops()).toEqual(['delivered', 'delivered']);
    for (const { executionId } of await formsOf(`q=${person}`))
      expect(await formsOf(`id=${executionId}`)).not.toMatchObject([{ stop: 'answered' }]);
  });

  it('lists a form that was passed to a real CRM as delivered, with the host and its status, and no other call to that host', async () => {
    const crm = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    await once(crm, 'listening');
    const host = `127.0.0.1:${(crm.address() as AddressInfo).port}`; // it listens
    const { person, lambda, submit, stops } = await makeForm();
    await platform.root.patch(`/acme/lambdas/${lambda.id}`, [
      { op: 'add', path: '/properties/code', value: code.replaceAll('https://crm.example.com', `http://${host}`) },
      { op: 'add', path: '/properties/env/CRM_API_BASEPATH', value: host },
    ]);
    const before = (await inspect('GET', '/outbound')).body.rules;
    await inspect('PUT', '/outbound', { rules: [{ host, action: 'pass', enabled: true }] });
    for (const message of ['', 'typo', '/services/oauth2/token']) await submit(message);
    await inspect('PUT', '/outbound', { rules: before });
    crm.close();
    expect(await stops()).toEqual(['delivered', 'delivered']);
    const [{ id, executionId, reason, rule }] = await formsOf(`q=${person}`);
    expect([reason, rule]).toEqual([`sent to ${host}, which responded with 200`, undefined]);
    expect(await formsOf(`id=${id}`)).toMatchObject([{ stop: 'delivered', id: executionId }]);
    expect((await inspect('GET', `/figures?of=forms&q=${person}`)).body).toMatchObject({ ok: 2, failed: 0 });
  });

  it('lists forms that a real CRM received from a lambda without CRM_OID, from a replay and from a request that was sent again', async () => {
    let status = 503;
    const crm = createServer((_request, response) => response.writeHead(status).end()).listen(0, '127.0.0.1');
    await once(crm, 'listening');
    const host = `127.0.0.1:${(crm.address() as AddressInfo).port}`; // it listens
    const secured = { plugins: { platformSecurity: { enabled: true } } };
    const variables = { CRM_API_BASEPATH: host };
    const { person, lambda, endpoint, url, submit, stops } = await makeForm(secured, acme, variables);
    await platform.root.patch(`/acme/lambdas/${lambda.id}`, [
      { op: 'add', path: '/properties/code', value: code.replaceAll('https://crm.example.com', `http://${host}`) },
    ]);
    await submit();
    expect(await stops()).toEqual(['unauthorized']);
    await platform.root.patch(`/acme/apiendpoints/${endpoint.id}`, [{ op: 'remove', path: '/properties/plugins' }]);
    await submit();
    expect(await stops()).toEqual(['rejected', 'unauthorized']);
    status = 200;
    const [{ executionId }, { requestSeq }] = await formsOf(`q=${person}`);
    await inspect('POST', `/invocations/${executionId}/replay`);
    await inspect('POST', '/requests', {
      method: 'POST',
      path: new URL(url).pathname,
      headers: [['Content-Type', 'application/json']],
      body: JSON.stringify({ payload: { email: person } }),
      replayOf: requestSeq,
    });
    crm.close();
    expect(await stops()).toEqual(['delivered', 'delivered', 'replayed', 'replayed']);
    expect(await formsOf(`id=request-${requestSeq}`)).toMatchObject([{ stop: 'replayed' }]);
  });

  it('lists the forms of a lambda that inherits CRM_OID, and no failures of other lambdas that inherit it', async () => {
    const tenant = await createTenant(platform.root, `inherits-${randomUUID().slice(0, 8)}`);
    const limit = { plugins: { rateLimit: { enabled: true, perMinute: 1 } } };
    const form = await makeForm(limit, tenant, {});
    const resize = await make.lambda(tenant, { code: 'exports.run = () => { throw new Error("no image"); };' });
    const { properties } = await make.endpoint(await make.api(tenant), resize, limit);
    await platform.root.patch(tenant.environment, [
      { op: 'add', path: '/properties/env', value: { CRM_OID: '00D000000000001' } },
    ]);
    await form.submit('throw');
    await form.submit();
    for (const status of [500, 429])
      expect(await send('POST', properties.public_url, { body: { width: 1 } })).toMatchObject({ status });
    expect(await form.stops()).toEqual(['limited', 'failed']);
    expect(await formsOf(`scope=${tenant.environment.split('/').at(-1)}`)).toHaveLength(2);
  });

  it('names the rule that stopped a form, and counts the form as delivered when its replay arrives', async () => {
    const { person, submit, stops } = await makeForm();
    const before = (await inspect('GET', '/outbound')).body.rules;
    const rules = [{ host: '{crm}', action: 'fail', status: 500, enabled: true }];
    await inspect('PUT', '/outbound', { rules });
    await submit();
    expect(await stops()).toEqual(['rejected']);
    const [{ executionId, rule }] = await formsOf(`q=${person}`);
    expect(rule).toMatchObject({ text: 'fail with 500 for {crm}' });
    await inspect('PUT', '/outbound', { rules: before });
    await inspect('POST', `/invocations/${executionId}/replay`);
    expect(await stops()).toEqual(['delivered', 'replayed']);
    expect((await inspect('GET', `/figures?of=forms&q=${person}`)).body).toMatchObject({
      ok: 1,
      refused: 1,
      failed: 0,
    });
  });

  it('is read page by page, and only as far as the caller may view it', async () => {
    const { person, submit, stops } = await makeForm();
    for (const message of ['throw', '', 'nothing', 'throw']) await submit(message);
    const all = await formsOf(`q=${person}`);
    const pages: Body[] = [];
    let before = '';
    do {
      const page = (await inspect('GET', `/forms?q=${person}&limit=1${before}`)).body;
      pages.push(...page.forms);
      before = page.next === undefined ? '' : `&before=${page.next}`;
    } while (before !== '');
    expect(pages).toEqual(all);
    expect(await stops(`${person} until:1h`)).toEqual([]);
    expect(await inspect('GET', '/forms?q=is:nowhere')).toMatchObject(refusal(400));
    const stranger = await makeAccount(platform, 'stranger');
    expect((await inspect('GET', '/forms', undefined, stranger.basic)).body).toEqual({ forms: [], leads: 0 });
  });

  it('links a rejected form and the lead that it became when it was sent again', async () => {
    const { person, lambda, submit, stops } = await makeForm();
    await platform.root.patch(`/acme/lambdas/${lambda.id}`, [{ op: 'remove', path: '/properties/env/CRM_OID' }]);
    await submit();
    const [{ id, executionId }] = await formsOf(`q=${person}`);
    await platform.root.patch(`/acme/lambdas/${lambda.id}`, [
      { op: 'add', path: '/properties/env/CRM_OID', value: '00D000000000001' },
    ]);
    await inspect('POST', `/invocations/${executionId}/replay`);
    expect(await stops()).toEqual(['delivered', 'replayed']);
    const [lead] = await formsOf(`q=${person} is:delivered`);
    expect(await formsOf(`id=${id}`)).toMatchObject([
      { lead: { refused: { status: 400 }, deliveredAs: { id: lead.id } } },
    ]);
    expect(await formsOf(`id=${lead.id}`)).toMatchObject([{ lead: { refusedBefore: [id] } }]);
  });

  it('links a rejected form and the lead of another address that it became when it was edited before the replay', async () => {
    const { person, submit, stops } = await makeForm();
    await submit('no oid');
    const [{ id, executionId }] = await formsOf(`q=${person}`);
    const email = `correct-${person}`;
    await inspect('POST', `/invocations/${executionId}/replay`, { event: { payload: { email } } });
    expect(await stops()).toEqual(['delivered', 'replayed']);
    const [lead] = await formsOf(`q=${email}`);
    expect(await formsOf(`id=${id}`)).toMatchObject([{ lead: { deliveredAs: { id: lead.id } } }]);
  });

  it('marks a delivered form whose path a CRM does not expect', async () => {
    const { person, submit } = await makeForm();
    await submit();
    await submit('typo');
    const [typo, correct] = await formsOf(`q=${person}`);
    expect(typo).toMatchObject({ stop: 'delivered', isUnusualPath: true });
    expect(correct.isUnusualPath).toBeUndefined();
  });

  it('does not list a form again when its lead was deleted', async () => {
    const { person, submit, stops } = await makeForm();
    await submit();
    await submit('no oid');
    for (const { id } of await formsOf(`q=${person}`)) await inspect('DELETE', `/leads/${id}`);
    expect(await stops()).toEqual([]);
  });
});
