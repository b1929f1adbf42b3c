import { WEB_FORM } from '../server/model/web-form.ts';
import { requireEngine, testImage } from '../server/testing/engine.ts';
import { expectNoFaults } from './axe.ts';
import { expect, type Page, test, type WindowPlatform } from './window.ts';

/** An engine takes a while to make, start and stop containers. */

interface Named {
  id: string;
  name: string;
  properties: { [name: string]: unknown };
}

const endpointsIn = (page: Page) => page.getByRole('region', { name: 'Endpoints' });
const endpointRow = (page: Page, path: string) => endpointsIn(page).getByRole('row').filter({ hasText: path });
const traffic = (page: Page) => page.getByRole('grid', { name: 'Requests' }).getByRole('row');
const detailIn = (page: Page) => page.getByRole('region', { name: 'Request', exact: true });

/** @typeParam T declared by the API document for the path */
async function send<T>(platform: WindowPlatform, page: Page, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await platform.send(page, method, path, body);
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}

test('endpoints show who can call them and the used part of their limit, and link to their requests and invocations', async ({
  page,
  platform,
}) => {
  await platform.open(page, 'gateway');
  await expect(page.getByRole('heading', { name: 'No requests yet' })).toBeVisible();
  const lead = endpointRow(page, '/website/lead');
  await expect(lead).toContainText('POST');
  await expect(lead.getByRole('link', { name: 'contact-form' })).toBeVisible();
  await expect(lead).toContainText('everyone');
  await expect(lead).toContainText('0/60 a minute');
  // A lower limit is reached with fewer requests.
  const endpoints = await send<Named[]>(platform, page, 'GET', '/meta/demo/apiendpoints?name=lead');
  const limit = [{ op: 'replace', path: '/properties/plugins/rateLimit/perMinute', value: 5 }];
  await send(platform, page, 'PATCH', `/meta/demo/apiendpoints/${endpoints[0]?.id}`, limit);
  await expect(lead).toContainText('0/5 a minute');
  await expect(lead).toContainText('none recorded');
  await expect(endpointRow(page, '/ci/deploy')).toContainText('1 user, 1 group');
  await expect(endpointRow(page, '/api/async')).toContainText('asynchronous');
  await expectNoFaults(page, 'endpoints');

  for (let count = 0; count < 3; count++) expect((await platform.call('/website/lead', WEB_FORM)).status).toBe(200);
  await expect(lead).toContainText('3/5 a minute');
  await expect(lead.getByRole('meter')).toHaveAttribute('aria-valuenow', '3');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await lead.getByRole('button', { name: 'Copy public address of lead' }).click();
  await expect
    .poll(() => page.evaluate('navigator.clipboard.readText()'))
    .toBe(`${platform.ready.gatewayUrl}/website/lead`);

  // Requests over the limit are not counted, and the response gives the reason.
  for (let count = 3; count < 6; count++) await platform.call('/website/lead', WEB_FORM);
  await expect(lead).toContainText('5/5 a minute');
  await expect(lead).toContainText('429');
  await platform.call('/website/orders/1001');
  await platform.call('/nowhere');
  await lead.getByRole('button', { name: '6 requests to lead: show only these' }).click();
  expect(page.url()).toContain('endpoint=');
  await expect(traffic(page).first()).toBeVisible();
  await expect(page.getByRole('grid', { name: 'Requests' })).not.toContainText('/website/orders');
  await traffic(page).nth(1).click();
  const why = detailIn(page).getByRole('region', { name: 'Why it was rejected' });
  await expect(why).toContainText('429: API rate limit exceeded');
  await expect(why).toContainText('To accept more, raise its limit.');
  await expectNoFaults(page, 'a refused request');
  // The address contains the whole state.
  await page.reload();
  await expect(why).toBeVisible();
  await page.getByRole('button', { name: 'One endpoint only' }).click();
  await expect(page.getByRole('grid', { name: 'Requests' })).toContainText('/website/orders/1001');

  await traffic(page).filter({ hasText: '/nowhere' }).click();
  await expect(why).toContainText('404: no API found');
  await expect(why).toContainText('no endpoint was found');
  await traffic(page).filter({ hasText: '/website/orders/1001' }).click();
  await expect(why).toBeHidden();
  await detailIn(page).getByRole('link', { name: 'Invocation' }).click();
  await expect(page.getByRole('heading', { name: 'order-status' })).toBeVisible();
});

test('the scope filters endpoints and traffic, and a deleted target is reported', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page);
  await platform.call('/website/orders/1001');
  await platform.call('/api/async', {});
  const workspaces = await send<Named[]>(platform, page, 'GET', '/meta/demo/workspaces');
  const reporting = workspaces.find(({ name }) => name === 'reporting')?.id;
  await platform.open(page, `gateway?scope=${reporting}`);
  await expect(endpointsIn(page).getByRole('row')).toHaveCount(2);
  await expect(endpointRow(page, '/api/async').getByRole('link', { name: 'slow-summary' })).toBeVisible();
  await expect(traffic(page)).toHaveCount(2);

  const lambdas = await send<Named[]>(platform, page, 'GET', '/meta/demo/lambdas');
  await send(platform, page, 'DELETE', `/meta/demo/lambdas/${lambdas.find(({ name }) => name === 'slow-summary')?.id}`);
  await expect(endpointRow(page, '/api/async')).toContainText('lambda deleted');
  const delivery = workspaces.find(({ name }) => name === 'delivery')?.id;
  await platform.open(page, `gateway?scope=${delivery}`);
  await expect(endpointsIn(page)).toContainText('/ci/deploy');
  await expect(page.getByRole('heading', { name: 'No requests match' })).toBeVisible();
  await page.getByRole('button', { name: 'Clear the query' }).click();
  await expect(traffic(page)).toHaveCount(3);
  await expect(endpointsIn(page).getByRole('row')).toHaveCount(5);
  await expectNoFaults(page, 'a target that is gone');
});

test.describe('with a container engine', { tag: '@engine' }, () => {
  test.use({ startOptions: { containers: { engine: 'auto', onStop: 'remove' } } });

  test('an endpoint shows the state of its container, also when it is stopped', async ({ page, platform }) => {
    await requireEngine();
    const image = await testImage();
    await platform.load(page);
    const environments = await send<Named[]>(platform, page, 'GET', '/meta/demo/environments?expand=true');
    const environment = environments.find(({ properties }) => properties.environment_type === 'development');
    const providers = await send<Named[]>(platform, page, 'GET', '/meta/root/providers');
    const shop = await send<Named>(platform, page, 'POST', `/meta/demo/environments/${environment?.id}/containers`, {
      name: 'shop',
      properties: {
        container_type: 'DOCKER',
        provider: { id: providers.find(({ name }) => name === 'default-docker')?.id },
        image,
        memory: 32,
        cmd: 'mkdir -p /www && echo shop > /www/index.html && exec httpd -f -p 8080 -h /www',
        port_mappings: [{ protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 }],
      },
    });
    const statusOf = async () =>
      (await send<Named>(platform, page, 'GET', `/meta/root/resources/${shop.id}`)).properties.status;
    await expect.poll(statusOf).toBe('RUNNING');
    const apis = await send<Named[]>(platform, page, 'GET', '/meta/demo/apis');
    const api = apis.find(({ name }) => name === 'website')?.id;
    await send(platform, page, 'POST', `/meta/root/apis/${api}/apiendpoints`, {
      name: 'front',
      properties: {
        resource: '/shop',
        implementation_type: 'container',
        implementation_id: shop.id,
        container_port_name: 'web',
        whitelist: ['127.0.0.1'],
      },
    });
    await platform.load(page, 'gateway');
    const row = endpointRow(page, '/website/shop');
    await expect(row).toContainText('any');
    await expect(row).toContainText('everyone from 1 address');
    await expect(row).toContainText('running');
    await expect.poll(async () => (await platform.call('/website/shop/')).status).toBe(200);
    await expect(row).toContainText('200');
    const request = traffic(page).filter({ hasText: '/website/shop/' }).first();
    // The column with the target is hidden in favor of the detail.
    await expect(request).toContainText('container');
    await request.click();
    await expect(detailIn(page).getByRole('link', { name: 'Container' })).toBeVisible();

    await send(platform, page, 'PATCH', `/meta/demo/containers/${shop.id}`, [
      { op: 'replace', path: '/properties/num_instances', value: 0 },
    ]);
    await expect(row).toContainText('stopped');
    expect((await platform.call('/website/shop/')).status).toBe(503);
    await expect(row).toContainText('503');
    await traffic(page).filter({ hasText: '503' }).first().click();
    await expect(detailIn(page).getByRole('region', { name: 'Why it was rejected' })).toContainText('is not running');
    await expectNoFaults(page, 'a stopped container');
  });
});

test('at 200 % the endpoints fit without horizontal scrolling', { tag: '@slow' }, async ({ page, platform }) => {
  await page.setViewportSize({ width: 720, height: 450 });
  await platform.open(page, 'gateway');
  const endpoints = endpointsIn(page);
  await expect(endpoints.getByText('/website/lead')).toBeVisible();
  expect(await endpoints.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
});
