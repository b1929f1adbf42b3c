import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WEB_FORM } from '../server/model/web-form.ts';
import { expectNoFaults } from './axe.ts';
import { expect, type Page, test, type WindowPlatform } from './window.ts';

interface Named {
  id: string;
  name: string;
}

const map = (page: Page) => page.getByRole('region', { name: 'Live map' });
const nodeOf = (page: Page, name: string) =>
  map(page)
    .getByRole('listitem')
    .filter({ has: page.getByRole('link', { name, exact: true }) });
const guide = (page: Page, title: string) =>
  page.getByRole('article').filter({ has: page.getByRole('heading', { name: title }) });

async function changeLambda(platform: WindowPlatform, page: Page, name: string, path: string, value: unknown) {
  const { body } = await platform.send(page, 'GET', '/meta/demo/lambdas?expand=true');
  const found = (body as Named[]).find((lambda) => lambda.name === name); // as the API document says
  const patch = [{ op: 'replace', path: `/properties/${path}`, value }];
  expect(await platform.send(page, 'PATCH', `/meta/demo/lambdas/${found?.id}`, patch)).toMatchObject({ status: 200 });
}

/** Counts the frames that scripts of the page request in the time of ten frames. */
const REQUESTED_FRAMES = `(async () => {
  const request = requestAnimationFrame;
  let count = 0;
  globalThis.requestAnimationFrame = (callback) => (count++, request(callback));
  for (let frame = 0; frame < 10; frame++) await new Promise((resolve) => request(resolve));
  globalThis.requestAnimationFrame = request;
  return count;
})()`;
/** Collects the shapes by which the map shows requests that pass. */
const COLLECT_PASSAGES = `(() => {
  globalThis.passages = [];
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes)
      if (target.nodeName === 'g') for (const shape of addedNodes) globalThis.passages.push(shape.nodeName);
  }).observe(document.querySelector('main'), { childList: true, subtree: true });
})()`;
const dotsIn = (page: Page) => map(page).locator('svg > g > circle');

test.describe('the live map', () => {
  test.use({ discardsPage: true });

  test('shows the way of a form to the CRM, and a failure that stays red and leads to its record', async ({
    page,
    platform,
  }) => {
    await platform.open(page);
    const node = (name: string) => nodeOf(page, name);
    await expect(node('POST /website/lead')).toContainText('no requests');
    await expectNoFaults(page, 'a map at rest');
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await page.evaluate(COLLECT_PASSAGES);
    await platform.call('/website/lead', WEB_FORM);
    for (const name of ['Without account', 'POST /website/lead', 'contact-form', 'Mock CRM'])
      await expect(node(name)).toContainText('1 request');
    // From the caller to the gateway, the lambda and the CRM.
    await expect.poll(() => page.evaluate('globalThis.passages')).toEqual(['circle', 'circle', 'circle']);
    // Nothing runs once the last dot has ended.
    await expect(dotsIn(page)).toHaveCount(0);
    expect(await page.evaluate(REQUESTED_FRAMES)).toBe(0);
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);

    await changeLambda(platform, page, 'contact-form', 'env', { CRM_API_BASEPATH: 'crm.example.com' });
    await platform.call('/website/lead', WEB_FORM);
    const failure = node('Mock CRM').getByRole('link', { name: /^1 failed/ });
    await expect(failure).toBeVisible();
    await expect(map(page)).toContainText('2 requests in the last hour, 1 node failing');
    await expect(node('contact-form')).not.toContainText('failed');
    await expectNoFaults(page, 'a map with a failure');
    await page.getByRole('radio', { name: 'Table' }).click();
    await expect(page.getByRole('row', { name: /Mock CRM contact-form \(2\) 2 1 failed/ })).toBeVisible();
    await expectNoFaults(page, 'the map as a table');
    await page.getByRole('radio', { name: 'Map', exact: true }).click();

    // The keyboard opens the resource, a click anywhere on the node the failed record.
    await node('contact-form').getByRole('link', { name: 'contact-form', exact: true }).press('Enter');
    await expect(page).toHaveURL(/\/lambdas\//);
    await platform.open(page);
    await node('Mock CRM').click({ position: { x: 200, y: 40 } });
    await expect(page).toHaveURL(/\/invocations\?sel=/);
    await expect(page.getByRole('note').first()).toContainText('The CRM rejected this form');
  });

  test('highlights with reduced motion, is dimmed without a connection, and fits a phone', async ({
    page,
    platform,
  }) => {
    await platform.open(page);
    await expect(nodeOf(page, 'Mock CRM')).toBeVisible();
    await page.evaluate(COLLECT_PASSAGES);
    await platform.call('/website/lead', WEB_FORM);
    await expect.poll(() => page.evaluate('globalThis.passages')).toEqual(['path', 'path', 'path']);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await nodeOf(page, 'Mock CRM').scrollIntoViewIfNeeded();
    await expect(nodeOf(page, 'Mock CRM')).toBeInViewport();
    await platform.end('SIGTERM');
    await expect(map(page)).toContainText('Not live: this is the last known state');
    await expect(map(page)).not.toContainText('in the last hour');
  });

  test('shows a presenter the map alone', async ({ page, platform }) => {
    await platform.open(page);
    await expect(guide(page, 'A web form in 60 seconds')).toBeVisible();
    await page.keyboard.press('Shift+P');
    await expect(guide(page, 'A web form in 60 seconds')).toBeHidden();
    await expect(nodeOf(page, 'contact-form')).toBeVisible();
    await expectNoFaults(page, 'the map in presenter mode');
  });
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
  const warning = page.getByRole('link', {
    name: /^a CRM form \(with the field 'oid'\).* was not caught: set CRM_API_BASEPATH/,
  });
  await expect(warning).toBeVisible();
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
