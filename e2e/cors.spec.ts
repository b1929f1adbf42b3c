import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lambdaClient } from './lambda-client.ts';
import { expect, type Page, test } from './window.ts';

/* The gateway's CORS headers in a browser: a page of another origin sends cookies and credentials (D-158). */

const LAMBDA = `exports.run = async (event, context) => {
  const { headers } = JSON.parse(context);
  return {
    status: 200,
    headers: { 'Set-Cookie': 'session=ada; Path=/' },
    body: { cookie: headers.cookie || '', authorization: headers.authorization || '', event },
  };
}`;

/** A server with an empty page; returns its origin. */
async function servePage(): Promise<{ origin: string; close(): void }> {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<p>page</p>'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The result of `fetch` in the page: the JSON of the response, or the error. */
function callFrom(page: Page, url: string, init: RequestInit): Promise<unknown> {
  return page.evaluate(
    ([url, init]) =>
      fetch(url, init).then(
        (answer) => answer.json(),
        (thrown: unknown) => String(thrown),
      ),
    [url, init] as const,
  );
}

const request: RequestInit = {
  method: 'POST',
  credentials: 'include',
  headers: { 'content-type': 'application/json', 'x-own': '1' },
  body: '{"a":1}',
};

test('a page can send cookies only to an endpoint that names its origin and allows credentials', {
  tag: '@slow',
}, async ({ page, platform }) => {
  const [allowed, other] = [await servePage(), await servePage()];
  const client = await lambdaClient(platform, page);
  const lambda = await client.make('who', LAMBDA);
  // As: what the API document says of a record.
  const { parent } = lambda.properties;
  const api = (await client.send('POST', `/meta/demo/environments/${parent?.id}/apis`, { name: 'cors' })) as {
    id: string;
  };
  const publish = (resource: string, cors: object) =>
    client.send('POST', `/meta/demo/apis/${api.id}/apiendpoints`, {
      name: resource.slice(1),
      properties: {
        resource,
        implementation_type: 'lambda',
        implementation_id: lambda.id,
        is_http_aware: true,
        methods: ['POST'],
        plugins: { cors },
      },
    });
  await publish('/credentials', { origins: [allowed.origin], credentials: true });
  await publish('/origins', { origins: [allowed.origin] });
  await publish('/any', {});
  await expect(publish('/refused', { credentials: true })).rejects.toThrow(/400 .*must list the origins/);
  const at = (resource: string) => `${platform.ready.gatewayUrl}/cors${resource}`;

  const form = await page.context().newPage();
  await form.goto(allowed.origin);
  const event = '{"a":1}';
  expect(await callFrom(form, at('/credentials'), request)).toEqual({ cookie: '', authorization: '', event });
  expect(await callFrom(form, at('/credentials'), request)).toEqual({
    cookie: 'session=ada',
    authorization: '',
    event,
  });
  const withPassword = { ...request, headers: { ...request.headers, authorization: 'Bearer nobody' } };
  expect(await callFrom(form, at('/credentials'), withPassword)).toMatchObject({ authorization: 'Bearer nobody' });
  // The browser hides a response that does not allow the request of the page.
  for (const refused of ['/origins', '/any']) {
    expect(await callFrom(form, at(refused), request)).toMatch(/^TypeError/);
    expect(await callFrom(form, at(refused), { ...request, credentials: 'omit' })).toEqual({
      cookie: '',
      authorization: '',
      event,
    });
  }

  await form.goto(other.origin);
  expect(await callFrom(form, at('/credentials'), request)).toMatch(/^TypeError/);
  expect(await callFrom(form, at('/credentials'), { ...request, credentials: 'omit' })).toMatch(/^TypeError/);
  expect(await callFrom(form, at('/any'), { ...request, credentials: 'omit' })).toMatchObject({ event });
  await form.close();
  allowed.close();
  other.close();
});

test('a page can read the 404 of the gateway, and the log explains why a beacon with JSON did not arrive', {
  tag: '@slow',
}, async ({ page, platform }) => {
  const { origin, close } = await servePage();
  const client = await lambdaClient(platform, page);
  const lambda = await client.make('beacon', LAMBDA);
  // As: what the API document says of a record.
  const { parent } = lambda.properties;
  const api = (await client.send('POST', `/meta/demo/environments/${parent?.id}/apis`, { name: 'beacons' })) as {
    id: string;
  };
  for (const [name, cors] of [
    ['any', {}],
    ['named', { origins: [origin], credentials: true }],
  ] as const) {
    const target = { implementation_type: 'lambda', implementation_id: lambda.id };
    const properties = { ...target, resource: `/${name}`, is_http_aware: true, methods: ['POST'], plugins: { cors } };
    await client.send('POST', `/meta/demo/apis/${api.id}/apiendpoints`, { name, properties });
  }
  const at = (path: string) => `${platform.ready.gatewayUrl}/beacons/${path}`;
  const log = () => client.send('GET', `/log/lambda/${lambda.id}?time=all`);
  const count = async () => {
    // The API document declares this type.
    const page = (await client.send('GET', `/inspect/invocations?lambda=${lambda.id}`)) as { invocations: unknown[] };
    return page.invocations.length;
  };

  const form = await page.context().newPage();
  await form.goto(origin);
  expect(await callFrom(form, at('none'), { ...request, credentials: 'omit' })).toMatchObject({ code: 404 });
  expect(await callFrom(form, at('any'), { ...request, method: 'DELETE', credentials: 'omit' })).toMatchObject({
    code: 405,
  });
  const beacon = (path: string) =>
    form.evaluate(
      `navigator.sendBeacon(${JSON.stringify(at(path))}, new Blob(['{"a":1}'], { type: 'application/json' }))`,
    );
  expect(await beacon('named')).toBe(true);
  await expect.poll(count).toBe(1);
  expect(await beacon('any')).toBe(true);
  await expect.poll(log).toEqual([expect.stringContaining('navigator.sendBeacon(url, JSON')]);
  expect(await count()).toBe(1);
  await form.close();
  close();
});
