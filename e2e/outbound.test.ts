import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootPairOf } from './account.ts';
import { send } from './checked-client.ts';
import { makerFor } from './maker.ts';
import { type Body, makePlace, type Place } from './place.ts';
import { type Platform, startPlatform } from './platform.ts';

/** A web form's lambda, the shortest there can be. */
const code = `exports.run = async (event) => {
  const { CRM_API_BASEPATH, CRM_OID, OTHER } = process.env;
  const form = new URLSearchParams({ oid: CRM_OID, last_name: JSON.parse(event).name });
  const answer = await fetch('http://' + (OTHER || CRM_API_BASEPATH) + '/servlet/servlet.WebToLead', { method: 'POST', body: form });
  return answer.status;
};`;

/** The company's real CRM: whatever reaches it. */
const reached: string[] = [];
const crm = createServer(async (request, response) => {
  let form = '';
  for await (const chunk of request) form += chunk;
  reached.push(new URLSearchParams(form).get('last_name') ?? '');
  response.writeHead(202).end();
});
let crmHost: string;

beforeAll(async () => {
  crm.listen(0, '127.0.0.1');
  await once(crm, 'listening');
  crmHost = `127.0.0.1:${(crm.address() as AddressInfo).port}`; // a listening TCP server has one
});
afterAll(() => {
  crm.close();
  crm.closeAllConnections();
});

/** A platform of those settings with the form's lambda. */
async function startWithForm(settings: Parameters<typeof startPlatform>[0]) {
  const platform = await startPlatform(settings);
  const make = makerFor(platform.root);
  const acme = await makePlace(platform.root, 'acme');
  const env = { CRM_API_BASEPATH: crmHost, CRM_OID: '00D000000000001' };
  const lambda = await make.lambda(acme, { code, env });
  const endpoint = await make.endpoint(await make.api(acme), lambda);
  return { platform, acme, lambda, submit: (name: string) => submit(endpoint, name), leads: () => leads(platform) };
}

async function submit(endpoint: Body, name: string): Promise<unknown> {
  return (await send('POST', endpoint.properties.public_url, { body: { name } })).body;
}

async function leads(platform: Platform): Promise<string[]> {
  const url = `${platform.emulator.baseUrl}/inspect/leads`;
  const { body } = await send('GET', url, { auth: rootPairOf(platform) });
  return body.map(({ fields }: Body) => fields.find((field: Body) => field.name === 'last_name').value);
}

describe('a call to the CRM that a lambda names (D-200)', () => {
  describe('is caught by default', () => {
    let platform: Platform;
    let acme: Place;
    let form: Awaited<ReturnType<typeof startWithForm>>;
    beforeAll(async () => {
      form = await startWithForm({});
      ({ platform, acme } = form);
    });
    afterAll(() => platform?.stop());

    it('and becomes a lead that nobody outside sees', async () => {
      expect(await form.submit('Hopper')).toBe(200);
      expect(await form.leads()).toEqual(['Hopper']);
      expect(reached).toEqual([]);
    });

    it('while every other call passes, from the invocation on at which the lambda names another CRM', async () => {
      const env = { CRM_API_BASEPATH: 'crm.example', CRM_OID: '1', OTHER: crmHost };
      const { id } = form.lambda;
      await platform.root.patch(`/acme/lambdas/${id}`, [{ op: 'add', path: '/properties/env', value: env }]);
      expect(await form.submit('Lovelace')).toBe(202);
      expect(reached.splice(0)).toEqual(['Lovelace']);
      expect(await form.leads()).toEqual(['Hopper']);
    });

    it('also when the environment names the CRM for all its lambdas', async () => {
      const above = [{ op: 'add', path: '/properties/env', value: { CRM_API_BASEPATH: crmHost } }];
      await platform.root.patch(acme.environment, above);
      const own = [{ op: 'add', path: '/properties/env', value: { CRM_OID: '1' } }];
      await platform.root.patch(`/acme/lambdas/${form.lambda.id}`, own);
      expect(await form.submit('Hamilton')).toBe(200);
      expect(await form.leads()).toEqual(expect.arrayContaining(['Hopper', 'Hamilton']));
      expect(reached).toEqual([]);
    });
  });

  it('passes where that is configured', async () => {
    const { platform, submit, leads } = await startWithForm({ outbound: { crm: 'pass' } });
    try {
      expect(await submit('Hopper')).toBe(202);
      expect(reached.splice(0)).toEqual(['Hopper']);
      expect(await leads()).toEqual([]);
    } finally {
      await platform.stop();
    }
  });
});

describe('rules about outbound calls', () => {
  let form: Awaited<ReturnType<typeof startWithForm>>;
  let auth: string;
  let url: string;
  beforeAll(async () => {
    form = await startWithForm({});
    auth = rootPairOf(form.platform);
    url = `${form.platform.emulator.baseUrl}/inspect/outbound`;
  });
  afterAll(() => form?.platform.stop());

  it('hold at once, for a lambda whose process is there already, and are in the record of the call', async () => {
    expect((await send('GET', url, { auth })).body).toEqual({ revision: 0, rules: [], crm: 'catch' });
    expect(await form.submit('Hopper')).toBe(200);
    const put = await send('PUT', url, { auth, body: { rules: [{ host: '{crm}', action: 'fail', status: 500 }] } });
    expect(put.body).toMatchObject({
      revision: 1,
      rules: [{ host: '{crm}', action: 'fail', status: 500, enabled: true }],
    });
    expect(await form.submit('Lovelace')).toBe(500);
    expect(await form.leads()).toEqual(['Hopper']);

    const invoke = `${form.platform.emulator.baseUrl}/inspect/lambdas/${form.lambda.id}/invoke`;
    const { body } = await send('POST', invoke, { auth, body: { name: 'Hamilton' } });
    const { rules } = put.body;
    expect(body.outbound).toMatchObject([
      { status: 500, rules: [{ id: rules[0].id, text: 'fail with 500 for {crm}' }] },
    ]);

    const off = { rules: [{ ...rules[0], enabled: false }], revision: 1 };
    expect((await send('PUT', url, { auth, body: off })).status).toBe(200);
    expect((await send('PUT', url, { auth, body: off })).status).toBe(409);
    expect(await form.submit('Hamilton')).toBe(200);
  });

  it("are nobody's but root's, and refused with a pointer when they say nothing sensible", async () => {
    expect((await send('PUT', url, { body: { rules: [] } })).status).toBe(401);
    const bad = await send('PUT', url, { auth, body: { rules: [{ host: '{crm}', action: 'delay' }] } });
    expect(bad.status).toBe(400);
    expect(JSON.stringify(bad.body)).toContain('/rules/0/delayMs');
  });
});

it('a lead knows the invocation that sent it, and with what', async () => {
  const { platform, lambda, submit } = await startWithForm({});
  try {
    await submit('Hopper');
    const base = `${platform.emulator.baseUrl}/inspect`;
    const auth = rootPairOf(platform);
    const [lead] = (await send('GET', `${base}/leads`, { auth })).body;
    expect(lead.sender).toEqual({
      lambdaId: lambda.id,
      lambdaName: lambda.name,
      event: '{"name":"Hopper"}',
      crmOid: '00D000000000001',
    });
    const invocation = (await send('GET', `${base}/invocations/${lead.executionId}`, { auth })).body;
    expect(invocation).toMatchObject({ lambdaId: lambda.id, outbound: [{ caughtBy: 'crm' }] });
    const found = (await send('GET', `${base}/leads?execution=${lead.executionId}`, { auth })).body;
    expect(found).toEqual([lead]);
  } finally {
    await platform.stop();
  }
});
