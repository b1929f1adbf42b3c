import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { workshopIn } from './lambda-workshop.ts';
import { expect, type Page, test } from './window.ts';

/* What a browser makes of the gateway's CORS headers: a page of another origin that sends cookies and credentials along (D-158). */

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
  // As: a listening TCP server has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** What a page's script gets: the JSON of the answer, or what fetch throws. */
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

const ask: RequestInit = {
  method: 'POST',
  credentials: 'include',
  headers: { 'content-type': 'application/json', 'x-own': '1' },
  body: '{"a":1}',
};

test('a page may send cookies to an endpoint that names its origin and allows credentials, and to no other', async ({
  page,
  platform,
}) => {
  const [allowed, other] = [await servePage(), await servePage()];
  const workshop = await workshopIn(platform, page);
  const lambda = await workshop.make('who', LAMBDA);
  // As: what the API document says of a record.
  const { parent } = lambda.properties;
  const api = (await workshop.ask('POST', `/meta/demo/environments/${parent?.id}/apis`, { name: 'cors' })) as {
    id: string;
  };
  const publish = (resource: string, cors: object) =>
    workshop.ask('POST', `/meta/demo/apis/${api.id}/apiendpoints`, {
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
  await expect(publish('/refused', { credentials: true })).rejects.toThrow(/400 .*must name the origins/);
  const at = (resource: string) => `${platform.ready.gatewayUrl}/cors${resource}`;

  const form = await page.context().newPage();
  await form.goto(allowed.origin);
  const event = '{"a":1}';
  expect(await callFrom(form, at('/credentials'), ask)).toEqual({ cookie: '', authorization: '', event });
  expect(await callFrom(form, at('/credentials'), ask)).toEqual({ cookie: 'session=ada', authorization: '', event });
  const withPassword = { ...ask, headers: { ...ask.headers, authorization: 'Bearer nobody' } };
  expect(await callFrom(form, at('/credentials'), withPassword)).toMatchObject({ authorization: 'Bearer nobody' });
  // The browser keeps an answer from the page that does not allow what the page has sent.
  for (const refused of ['/origins', '/any']) {
    expect(await callFrom(form, at(refused), ask)).toMatch(/^TypeError/);
    expect(await callFrom(form, at(refused), { ...ask, credentials: 'omit' })).toEqual({
      cookie: '',
      authorization: '',
      event,
    });
  }

  await form.goto(other.origin);
  expect(await callFrom(form, at('/credentials'), ask)).toMatch(/^TypeError/);
  expect(await callFrom(form, at('/credentials'), { ...ask, credentials: 'omit' })).toMatch(/^TypeError/);
  expect(await callFrom(form, at('/any'), { ...ask, credentials: 'omit' })).toMatchObject({ event });
  await form.close();
  allowed.close();
  other.close();
});
