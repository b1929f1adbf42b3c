import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rootPairOf } from '../server/testing/account.ts';
import { send } from '../server/testing/checked-client.ts';
import { type Platform, startPlatform } from '../server/testing/platform.ts';
import { resourceFactoryFor } from '../server/testing/resource-factory.ts';
import { type Body, createTenant, type Tenant } from '../server/testing/tenant.ts';

/** A minimal lambda of a web form, which resolves every host name to this machine. */
const code = `const dns = require('dns');
const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup('127.0.0.1', ...rest);
exports.run = async (event) => {
  const { CRM_API_BASEPATH, CRM_OID, OTHER } = process.env;
  const form = new URLSearchParams({ oid: CRM_OID, last_name: JSON.parse(event).name });
  const answer = await fetch('http://' + (OTHER || CRM_API_BASEPATH) + '/servlet/servlet.WebToLead', { method: 'POST', body: form });
  return answer.status;
};`;

/** The company's real CRM: the requests that reach it. */
const reached: string[] = [];
const crm = createServer(async (request, response) => {
  let form = '';
  for await (const chunk of request) form += chunk;
  reached.push(new URLSearchParams(form).get('last_name') ?? '');
  response.writeHead(202).end();
});
let crmHost: string;
let crmPort: number;

beforeAll(async () => {
  crm.listen(0, '127.0.0.1');
  await once(crm, 'listening');
  crmPort = (crm.address() as AddressInfo).port; // a listening TCP server has one
  crmHost = `crm.example:${crmPort}`;
});
afterAll(() => {
  crm.close();
  crm.closeAllConnections();
});

/** A platform with these settings and the lambda of the form. */
async function startWithForm(settings: Parameters<typeof startPlatform>[0]) {
  const platform = await startPlatform(settings);
  const make = resourceFactoryFor(platform.root);
  const acme = await createTenant(platform.root, 'acme');
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
    let acme: Tenant;
    let form: Awaited<ReturnType<typeof startWithForm>>;
    beforeAll(async () => {
      form = await startWithForm({});
      ({ platform, acme } = form);
    });
    afterAll(() => platform?.stop());

    it('and becomes a lead in the mock CRM only', async () => {
      expect(await form.submit('Hopper')).toBe(200);
      expect(await form.leads()).toEqual(['Hopper']);
      expect(reached).toEqual([]);
    });

    it('while every other call passes, from the invocation on at which the lambda names another CRM', async () => {
      const env = { CRM_API_BASEPATH: 'other.example', CRM_OID: '1', OTHER: `127.0.0.1:${crmPort}` };
      const { id } = form.lambda;
      await platform.root.patch(`/acme/lambdas/${id}`, [{ op: 'add', path: '/properties/env', value: env }]);
      expect(await form.submit('Lovelace')).toBe(202);
      expect(reached.splice(0)).toEqual(['Lovelace']);
      expect(await form.leads()).toEqual(['Hopper']);
    });

    it('also when the environment names the CRM for all its lambdas', async () => {
      const above = [{ op: 'add', path: '/properties/env', value: { CRM_API_BASEPATH: crmHost } }];
      await platform.root.patch(acme.environment, above);
      const lambdaPatch = [{ op: 'add', path: '/properties/env', value: { CRM_OID: '1' } }];
      await platform.root.patch(`/acme/lambdas/${form.lambda.id}`, lambdaPatch);
      expect(await form.submit('Hamilton')).toBe(200);
      expect(await form.leads()).toEqual(expect.arrayContaining(['Hopper', 'Hamilton']));
      expect(reached).toEqual([]);
    });
  });

  describe('and its form is at every path that one of the variables of the lambda names', () => {
    let platform: Platform;
    let acme: Tenant;
    let make: ReturnType<typeof resourceFactoryFor>;
    beforeAll(async () => {
      platform = await startPlatform();
      make = resourceFactoryFor(platform.root);
      acme = await createTenant(platform.root, 'acme');
    });
    afterAll(() => platform?.stop());

    /** Response to a lambda that posts a form to the path in its variable, and the number of leads afterwards. */
    async function post(variables: object, path = 'process.env.CRM_PATH'): Promise<[number, string, number]> {
      const code = `exports.run = async () => {
        const form = new URLSearchParams({ oid: '1', last_name: 'Hopper' });
        const answer = await fetch('https://crm.example' + ${path}, { method: 'POST', body: form });
        return [answer.status, await answer.text()];
      };`;
      const lambda = await make.lambda(acme, { code, env: { CRM_API_BASEPATH: 'crm.example', ...variables } });
      const [status, text] = JSON.parse(
        JSON.stringify(await submit(await make.endpoint(await make.api(acme), lambda), 'Hopper')),
      );
      return [status, text, (await leads(platform)).length];
    }

    it('whatever it says, with a query, and without its first slash', async () => {
      expect(await post({ CRM_PATH: '/forms/lead' })).toMatchObject([200, expect.any(String), 1]);
      expect(await post({ CRM_PATH: '/forms/lead?encoding=UTF-8' })).toMatchObject([200, expect.any(String), 2]);
      expect(await post({ CRM_PATH: 'forms' }, "'/' + process.env.CRM_PATH")).toMatchObject([
        200,
        expect.any(String),
        3,
      ]);
    });

    it('and not at one that only another lambda names, nor at none', async () => {
      const before = (await leads(platform)).length;
      await post({ CRM_PATH: '/of-another' });
      const refused = await post({ CRM_PATH: '/forms/lead' }, "'/of-another'");
      expect(refused).toMatchObject([
        404,
        expect.stringContaining('no variable of the lambda names that path'),
        before + 1,
      ]);
      expect(await post({ CRM_PATH: '' })).toMatchObject([404, expect.stringContaining('no form at /'), before + 1]);
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

  it('apply immediately, for a lambda with a running process, and are in the record of the call', async () => {
    expect((await send('GET', url, { auth })).body).toEqual({ revision: 0, rules: [], crm: 'catch', default: 'block' });
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

  it('can only be changed by root, and are refused with a pointer when they are invalid', async () => {
    expect((await send('PUT', url, { body: { rules: [] } })).status).toBe(401);
    const bad = await send('PUT', url, { auth, body: { rules: [{ host: '{crm}', action: 'delay' }] } });
    expect(bad.status).toBe(400);
    expect(JSON.stringify(bad.body)).toContain('/rules/0/delayMs');
  });
});

it('a lead has the invocation that sent it, and its event', async () => {
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
