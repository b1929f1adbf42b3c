import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expectNoFaults } from './axe.ts';
import { expect, type Page, test, type WindowPlatform } from './window.ts';

interface Named {
  id: string;
  name: string;
}

const card = (page: Page, name: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });
const guide = (page: Page, title: string) =>
  page.getByRole('article').filter({ has: page.getByRole('heading', { name: title }) });

async function changeLambda(platform: WindowPlatform, page: Page, name: string, path: string, value: unknown) {
  const { body } = await platform.send(page, 'GET', '/meta/demo/lambdas?expand=true');
  const found = (body as Named[]).find((lambda) => lambda.name === name); // as the API document says
  const patch = [{ op: 'replace', path: `/properties/${path}`, value }];
  expect(await platform.send(page, 'PATCH', `/meta/demo/lambdas/${found?.id}`, patch)).toMatchObject({ status: 200 });
}

test('each service counts its requests and links to its last error', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  const { baseUrl } = platform.ready;
  await expect(card(page, 'Gateway')).toContainText('no requests in the last 30 minutes');
  await expect(card(page, 'Containers')).toContainText('no engine');
  await expectNoFaults(page, 'a platform at rest');

  for (let count = 0; count < 3; count++) {
    await platform.call('/website/orders/1001');
    await fetch(`${baseUrl}/meta/orgs`);
    await fetch(`${baseUrl}/security/root/directories`);
  }
  const { body } = await platform.send(page, 'GET', '/inspect/scm');
  const { apiUrl } = body as { apiUrl: string }; // as the API document says
  await fetch(apiUrl, { headers: { 'PRIVATE-TOKEN': 'wrong' } });
  const line = (name: string) => card(page, name).getByRole('img', { name: `${name}: requests a minute` });
  // A minute may end in between.
  await expect(line('Gateway')).toHaveAttribute('aria-label', /most [23]$/);
  await expect(line('Resource service')).toHaveAttribute('aria-label', /most \d+$/);
  await expect(line('Security service')).toHaveAttribute('aria-label', /most [23]$/);
  await expect(line('Mock GitLab')).toHaveAttribute('aria-label', /most 1$/);
  await expect(card(page, 'Mock GitLab').getByRole('link', { name: /^401 GET/ })).toBeVisible();
  await expect(card(page, 'Gateway')).toContainText('No errors');

  const broken = Buffer.from('export function run() { throw new Error("<b>out of ferns</b>"); }').toString('base64');
  await changeLambda(platform, page, 'order-status', 'code', broken);
  await platform.call('/website/orders/1002');
  const fault = card(page, 'Gateway').getByRole('link', { name: '500 GET /website/orders/1002' });
  await expect(fault).toBeVisible();
  await expectNoFaults(page, 'a platform with errors');
  await fault.click();
  await expect(page.getByRole('heading', { name: 'order-status' })).toBeVisible();
  await expect(page.getByText('<b>out of ferns</b>').first()).toBeVisible();
});

test('a form without a lead is not reported as sent', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  await changeLambda(platform, page, 'contact-form', 'env', { CRM_OID: '', CRM_API_BASEPATH: 'crm.example.com' });
  const form = guide(page, 'A web form in 60 seconds');
  await form.getByRole('button', { name: 'Send the form' }).click();
  await expect(form.getByRole('alert')).toContainText('The form did not become a lead');
  await expect(form.getByRole('link', { name: 'Open the inbox' })).toBeVisible();
  await expectNoFaults(page, 'a stray form');
  await form.getByRole('link', { name: 'Open the invocation' }).click();
  await expect(page.getByRole('heading', { name: 'contact-form' })).toBeVisible();
});

test('a form that reached a real CRM is a warning until a form is intercepted, and completed steps outlive a restart', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await platform.open(page);
  // A server of this test under the name of another host: only a form that was received can have reached a real CRM.
  const server = createServer((_request, response) => response.end('thanks')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a listening TCP server has a port
  const posting = `export const run = () => new Promise((done) => {
    const lookup = (host, options, found) => options.all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4);
    const sent = require('http').request('http://crm.invalid:${port}/in', { lookup, method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } });
    sent.on('response', (response) => response.resume().on('end', () => done('sent'))).end('oid=00D1&lead_source=web') })`;
  await changeLambda(platform, page, 'order-status', 'code', Buffer.from(posting).toString('base64'));
  await platform.call('/website/orders/1001');
  const warning = card(page, 'Mock CRM').getByRole('link', {
    name: /^a CRM form \(with the field 'oid'\).* was not caught: set CRM_API_BASEPATH/,
  });
  await expect(warning).toBeVisible();
  await expect(card(page, 'Mock CRM')).toContainText('form not caught');
  await expect(page.getByRole('link', { name: '1 call left this machine' })).toBeVisible();
  await expectNoFaults(page, 'a form that was not caught');
  await warning.click();
  await expect(page.getByRole('heading', { name: 'order-status' })).toBeVisible();
  await platform.open(page);
  const form = guide(page, 'A web form in 60 seconds');
  await form.getByRole('button', { name: 'Send the form' }).click();
  await expect(warning).toBeHidden();

  await expect(form.getByRole('link', { name: '1 in the inbox' })).toBeVisible();
  await platform.end('SIGTERM');
  await platform.start();
  await page.context().clearCookies();
  await platform.open(page);
  await expect(form.getByRole('link', { name: '1 in the inbox' })).toBeVisible();
  await expect(form.getByText('(done)')).toHaveCount(3);
  await expect(form).toContainText(`POST ${platform.ready.gatewayUrl}/website/lead`);
  await expect(guide(page, 'A pipeline in 60 seconds')).toContainText('but no container engine is attached');
  server.close();
});

test.describe('in a world without the demo', () => {
  test.use({ startOptions: { seed: 'empty' } });

  test('the guides say so, add it, and then lead to a lead', { tag: '@slow' }, async ({ page, platform }) => {
    await platform.open(page);
    const form = guide(page, 'A web form in 60 seconds');
    await expect(form).toContainText('The demo world contains one.');
    await expect(form.getByRole('button')).toHaveCount(0);
    await expect(guide(page, 'A pipeline in 60 seconds').getByRole('button')).toHaveCount(0);
    await expectNoFaults(page, 'an empty world');
    await page.getByRole('button', { name: 'Add the demo world' }).click();
    await expect(page.getByText('Demo data loaded')).toBeVisible();
    await form.getByRole('button', { name: 'Send the form' }).click();
    await form.getByRole('link', { name: '1 in the inbox' }).click();
    await expect(page.getByText('Lovelace').first()).toBeVisible();
  });

  test('a world with other resources cannot be replaced from Home', { tag: '@slow' }, async ({ page, platform }) => {
    await platform.open(page);
    await expect(page.getByRole('button', { name: 'Add the demo world' })).toBeVisible();
    expect(await platform.send(page, 'POST', '/meta/root/orgs', { name: 'mine' })).toMatchObject({ status: 201 });
    await expect(page.getByText('would replace the world')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Add the demo world' })).toBeHidden();
    await expectNoFaults(page, 'a world with other resources');
  });
});
