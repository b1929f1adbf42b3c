import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Emulator, startEmulator } from '../server/platform/emulator.ts';
import { send } from '../server/testing/checked-client.ts';
import { basic, bearer } from '../server/testing/client.ts';

/**
 * The platform specification over real HTTP: each row of its tables and its two procedures, in its words. What the specification
 * leaves open is tested next to the code that implements it.
 */
let platform: Emulator;
let meta: string;
let security: string;
let gateway: string;
/** The first key pair, printed at the first start. */
let rootKey: string;
let token: string;
let workspace: string;
let environment: string;

const CONTAINER_TYPE = '28cbf0e0-2c48-4589-85d5-df97a3a1f318';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

beforeAll(async () => {
  platform = await startEmulator({ seed: 'empty', rootPassword: 'terrarium' });
  ({ metaUrl: meta, securityUrl: security, gatewayUrl: gateway } = platform);
  rootKey = basic(platform.rootCredentials.apiKey, platform.rootCredentials.apiSecret ?? '');
  token = (await issueToken()).body.access_token;
  expect((await root().post(`${meta}/orgs`, { name: 'acme' })).status).toBe(201);
  workspace = (await root().post(`${meta}/acme/workspaces`, { name: 'shop' })).body.id;
  const created = await root().post(`${meta}/acme/workspaces/${workspace}/environments`, {
    name: 'dev',
    properties: { environment_type: 'development' },
  });
  environment = created.body.id;
});
afterAll(() => platform?.stop());

const as = (auth: string) => ({
  get: (url: string) => send('GET', url, { auth }),
  post: (url: string, body?: unknown) => send('POST', url, { auth, body }),
  patch: (url: string, body: unknown) => send('PATCH', url, { auth, body }),
  delete: (url: string) => send('DELETE', url, { auth }),
});
const root = () => as(bearer(token));

function issueToken() {
  const form = new URLSearchParams({ grant_type: 'password', username: 'root', password: 'terrarium' });
  return send('POST', `${security}/root/oauth/issue`, { body: form });
}

/** Returns the id of the Docker provider, which is created again if a test has deleted it. */
async function dockerProvider(): Promise<string> {
  await root().post(`${meta}/root/providers/initialize`);
  const providers: { id: string; name: string }[] = (await root().get(`${meta}/root/providers`)).body;
  return providers.find(({ name }) => name === 'default-docker')?.id ?? '';
}

/** Creates a container, which is deleted at the end of the test, and returns its id. */
async function createContainer(provider: string): Promise<string> {
  const created = await root().post(`${meta}/acme/environments/${environment}/containers`, {
    name: 'web',
    properties: { container_type: 'DOCKER', image: 'nginx:1.27', provider: { id: provider } },
  });
  expect(created.status).toBe(201);
  onTestFinished(async () => {
    await root().delete(`${meta}/root/containers/${created.body.id}`);
  });
  return created.body.id;
}

describe('Security service ({security_url})', () => {
  it('POST /root/oauth/issue: grant_type password, username, password -> JSON containing access_token', async () => {
    const reply = await issueToken();
    expect(reply.status).toBe(200);
    expect(reply.body.access_token).toEqual(expect.any(String));
  });

  it('POST /accounts/{user_id}/apiKeys: Basic with an existing pair, body {orgId} -> a key and secret', async () => {
    const self = await root().get(`${meta}/users/self`);
    const org = await root().get(`${meta}/root`);
    const reply = await send('POST', `${security}/accounts/${self.body.id}/apiKeys`, {
      auth: rootKey,
      body: { orgId: org.body.id },
    });
    expect(reply.status).toBe(201);
    const fresh = basic(reply.body.apiKey, reply.body.apiSecret);
    expect((await as(fresh).get(`${meta}/root`)).status).toBe(200);
  });
});

describe('Resource service ({meta_url})', () => {
  it('GET /{fqon} returns the organization', async () => {
    const reply = await root().get(`${meta}/acme`);
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ name: 'acme', properties: { fqon: 'acme' } });
  });

  it('GET /orgs lists all organizations; with expand=true each has properties.fqon', async () => {
    const reply = await root().get(`${meta}/orgs?expand=true`);
    expect(reply.status).toBe(200);
    const fqons = reply.body.map((org: { properties: { fqon: string } }) => org.properties.fqon);
    expect(fqons).toEqual(expect.arrayContaining(['root', 'acme']));
  });

  it('GET /{fqon}/workspaces/{workspace_id} returns the workspace', async () => {
    const reply = await root().get(`${meta}/acme/workspaces/${workspace}`);
    expect(reply).toMatchObject({ status: 200, body: { id: workspace, name: 'shop' } });
  });

  it('GET /{fqon}/workspaces/{workspace_id}/environments/{environment_id} returns the environment', async () => {
    const reply = await root().get(`${meta}/acme/workspaces/${workspace}/environments/${environment}`);
    expect(reply).toMatchObject({
      status: 200,
      body: { id: environment, name: 'dev', properties: { environment_type: 'development' } },
    });
  });

  it('POST /root/users creates a user; GET /root/users lists users, optionally expanded', async () => {
    const properties = {
      password: 's3cret',
      firstName: 'Ada',
      lastName: 'Lovelace',
      email: 'ada@example.com',
      phoneNumber: '+44 20 0000 0000',
      platform_home: 'root',
    };
    const created = await root().post(`${meta}/root/users`, { name: 'ada', properties });
    expect(created.status).toBe(201);
    const { password: _, ...visibleProperties } = properties;
    expect(created.body.properties).toMatchObject(visibleProperties);
    expect(created.body.properties).not.toHaveProperty('password');
    const links = await root().get(`${meta}/root/users`);
    expect(links.body.map((user: { name: string }) => user.name)).toContain('ada');
    const records = await root().get(`${meta}/root/users?expand=true`);
    expect(records.body.find((user: { name: string }) => user.name === 'ada').properties).toMatchObject(
      visibleProperties,
    );
  });

  it('POST /root/providers/initialize initializes providers, without a body', async () => {
    const reply = await root().post(`${meta}/root/providers/initialize`);
    expect(reply).toMatchObject({ status: 200, body: { status: 'initialized' } });
  });

  it('GET /root/providers lists providers, each with an id', async () => {
    const docker = await dockerProvider();
    const reply = await root().get(`${meta}/root/providers?expand=true`);
    expect(reply.status).toBe(200);
    expect(reply.body.length).toBeGreaterThan(0);
    for (const provider of reply.body) expect(provider.id).toMatch(UUID);
    expect(reply.body.find((record: { id: string }) => record.id === docker).properties).toMatchObject({
      environment_types: ['development', 'test', 'production'],
      linked_providers: [
        {
          id: expect.stringMatching(UUID),
          name: 'default-logging',
          type: 'Platform::Configuration::Provider::Logging',
          typeId: expect.stringMatching(UUID),
        },
      ],
    });
  });

  it('PATCH /root/providers/{provider_id}: replace and add on /name, environment_types and linked_providers', async () => {
    const docker = await dockerProvider();
    const { name, properties } = (await root().get(`${meta}/root/providers/${docker}`)).body;
    onTestFinished(async () => {
      await root().patch(`${meta}/root/providers/${docker}`, [
        { op: 'replace', path: '/name', value: name },
        { op: 'replace', path: '/properties/environment_types', value: properties.environment_types },
        { op: 'replace', path: '/properties/linked_providers', value: properties.linked_providers },
      ]);
    });
    const reply = await root().patch(`${meta}/root/providers/${docker}`, [
      { op: 'replace', path: '/name', value: 'laptop-docker' },
      { op: 'replace', path: '/properties/environment_types', value: ['development'] },
      { op: 'add', path: '/properties/linked_providers', value: [] },
    ]);
    expect(reply).toMatchObject({
      status: 200,
      body: { name: 'laptop-docker', properties: { environment_types: ['development'], linked_providers: [] } },
    });
  });

  it('GET /root/providers/{provider_id}/containers lists the containers of the provider', async () => {
    const docker = await dockerProvider();
    const container = await createContainer(docker);
    const reply = await root().get(`${meta}/root/providers/${docker}/containers`);
    expect(reply.status).toBe(200);
    expect(reply.body.map((record: { id: string }) => record.id)).toEqual([container]);
  });

  it('GET /{fqon}/resourcetypes/{type_id}/resources: all containers of the org, none of them of root', async () => {
    const container = await createContainer(await dockerProvider());
    const inAcme = await root().get(`${meta}/acme/resourcetypes/${CONTAINER_TYPE}/resources`);
    expect(inAcme.body.map((record: { id: string }) => record.id)).toEqual([container]);
    expect(await root().get(`${meta}/root/resourcetypes/${CONTAINER_TYPE}/resources`)).toMatchObject({
      status: 200,
      body: [],
    });
  });

  it('DELETE /root/containers/{container_id} deletes the container', async () => {
    const container = await createContainer(await dockerProvider());
    expect((await root().delete(`${meta}/root/containers/${container}`)).status).toBe(204);
    expect((await root().get(`${meta}/root/containers/${container}`)).status).toBe(404);
  });

  it('DELETE /root/providers/{provider_id} deletes the provider', async () => {
    const docker = await dockerProvider();
    expect((await root().delete(`${meta}/root/providers/${docker}`)).status).toBe(204);
    expect((await root().get(`${meta}/root/providers/${docker}`)).status).toBe(404);
  });
});

describe('Authentication', () => {
  it('refuses the resource service without credentials and takes Bearer and Basic alike', async () => {
    expect((await send('GET', `${meta}/root`)).status).toBe(401);
    expect((await send('GET', `${meta}/root`, { auth: rootKey })).status).toBe(200);
    expect((await send('GET', `${meta}/root`, { auth: bearer(token) })).status).toBe(200);
    expect((await send('GET', `${meta}/root`, { auth: bearer('made-up') })).status).toBe(401);
  });
});

describe('Setup procedure: the web-form lambda', () => {
  const payload = {
    firstName: 'Grace',
    lastName: 'Hopper',
    company: 'Compilers & Co',
    phone: '+1 202 555 0100',
    email: 'grace@example.com',
    title: 'Rear Admiral',
    size: '50',
    message: 'Please call back — soon',
  };
  /** An ordinary lambda, without any reference to an emulator. */
  const source = `
    const https = require('https');
    const querystring = require('querystring');
    exports.run = (event, context, callback) => {
      const { payload = 'no message' } = JSON.parse(event);
      const form = querystring.stringify({
        oid: process.env.CRM_OID, lead_source: 'Website', first_name: payload.firstName, last_name: payload.lastName,
        company: payload.company, email: payload.email, title: payload.title, phone: payload.phone,
        employees: payload.size, '00N5g00000ABCDE': payload.message,
      });
      const request = https.request({
        hostname: process.env.CRM_API_BASEPATH, path: process.env.CRM_PATH, method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(form) },
      }, (response) => { response.resume(); response.on('end', () => callback(null, 'SUCCESS')); });
      request.on('error', (error) => callback(error.message, 'ERROR'));
      request.end(form);
    };`;

  /** Creates the lambda and publishes it. Returns its public URL. */
  async function publishWebForm(name: string): Promise<string> {
    await root().post(`${meta}/root/providers/initialize`);
    const providers = (await root().get(`${meta}/root/providers?type=Lambda`)).body;
    const reply = await root().post(`${meta}/acme/environments/${environment}/lambdas`, {
      name,
      properties: {
        provider: { id: providers[0].id },
        runtime: 'NodeJS',
        code_type: 'Inline',
        code: Buffer.from(source).toString('base64'),
        handler: 'run',
        env: {
          CRM_API_BASEPATH: 'webto.crm.example.com',
          CRM_PATH: '/servlet/servlet.WebToLead?encoding=UTF-8',
          CRM_OID: '00D000000000001',
        },
      },
    });
    expect(reply.status).toBe(201);
    const lambda = reply.body.id;

    const api = await root().post(`${meta}/acme/environments/${environment}/apis`, { name: `${name}-site` });
    expect(api.status).toBe(201);
    const endpoint = await root().post(`${meta}/acme/apis/${api.body.id}/apiendpoints`, {
      name: 'lead',
      properties: {
        resource: '/lead',
        implementation_type: 'lambda',
        implementation_id: lambda,
        methods: ['POST'],
        plugins: { rateLimit: { enabled: true, perMinute: 60 } },
      },
    });
    expect(endpoint.status).toBe(201);
    return endpoint.body.properties.public_url;
  }

  it('creates the lambda: provider, name, NodeJS runtime, Inline code, handler run, the three CRM_ variables', async () => {
    expect(await publishWebForm('contact-form')).toBe(`${gateway}/contact-form-site/lead`);
  });

  it('POST {public_url} with the form runs it: SUCCESS, and a new lead in the CRM with the mapped fields', async () => {
    const publicUrl = await publishWebForm('mapped-form');
    const email = 'mapped@example.com';
    const reply = await send('POST', publicUrl, { body: { payload: { ...payload, email } } });
    expect(reply).toMatchObject({ status: 200, body: 'SUCCESS' });
    const leads = await send('GET', `${platform.baseUrl}/inspect/leads`, { auth: rootKey });
    const mapped = leads.body.filter(({ fields }: { fields: { value: string }[] }) =>
      fields.some(({ value }) => value === email),
    );
    expect(mapped).toHaveLength(1);
    expect(mapped[0].fields).toEqual(
      Object.entries({
        oid: '00D000000000001',
        lead_source: 'Website',
        first_name: 'Grace',
        last_name: 'Hopper',
        company: 'Compilers & Co',
        email,
        title: 'Rear Admiral',
        phone: '+1 202 555 0100',
        employees: '50',
        '00N5g00000ABCDE': 'Please call back — soon',
      }).map(([name, value]) => ({ name, value })),
    );
  });

  it('allows only POST, and 60 requests a minute', async () => {
    const publicUrl = await publishWebForm('limited-form');
    expect(await send('GET', publicUrl)).toMatchObject({ status: 405 });
    const replies = [];
    for (let call = 1; call <= 61; call++) replies.push(await send('POST', publicUrl, { body: { payload } }));
    expect(replies.slice(0, 60).every((reply) => reply.status === 200)).toBe(true);
    expect(replies[60]).toMatchObject({ status: 429, body: { code: 429, message: 'API rate limit exceeded' } });
  });

  it('shows the headers that the gateway adds to its responses', async () => {
    const reply = await send('GET', `${gateway}/nowhere`);
    expect(reply.status).toBe(404);
    expect(reply.headers.get('x-terrarium-proxy-latency')).toMatch(/^\d+$/);
  });
});

describe('Gateway ({gateway_url})', () => {
  it('POST /api/async -> {lambdaId}; GET /results/{id} with Bearer -> the async result record', async () => {
    const [{ id: provider }] = (await root().get(`${meta}/root/providers?type=Lambda`)).body;
    const created = await root().post(`${meta}/acme/lambdas`, {
      name: 'sum',
      properties: {
        provider: { id: provider },
        runtime: 'nodejs',
        code_type: 'code',
        code: 'exports.run = async (event) => ({ sum: JSON.parse(event).data.reduce((a, b) => a + b, 0) });',
        handler: 'run',
      },
    });
    const accepted = await send('POST', `${gateway}/api/async`, {
      body: { lambdaId: created.body.id, data: [1, 2, 3] },
    });
    expect(accepted.status).toBe(200);
    expect(accepted.body).toEqual({ lambdaId: expect.stringMatching(UUID) });
    const id = accepted.body.lambdaId;
    await expect.poll(async () => (await root().get(`${gateway}/results/${id}`)).status).toBe(200);
    const result = await root().get(`${gateway}/results/${id}`);
    expect(result.body).toEqual({
      contentType: 'application/json',
      executionId: id,
      executionTime: expect.any(Number),
      lambdaId: created.body.id,
      result: '{"sum":6}',
    });
    expect((await send('GET', `${gateway}/results/${id}`)).status).toBe(401);
  });
});
