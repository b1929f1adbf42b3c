import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WEB_FORM } from '../server/model/web-form.ts';
import { expectNoFaults } from './axe.ts';
import { type LambdaRecord, lambdaClient } from './lambda-client.ts';
import { growLeads } from './long-past.ts';
import { expect, type Page, test, type WindowPlatform } from './window.ts';

const sendForm = (platform: WindowPlatform, fields: object = {}) =>
  platform.call('/website/lead', { payload: { ...WEB_FORM.payload, ...fields } });
const rowsOf = (page: Page) => page.getByRole('grid', { name: 'Leads' }).getByRole('row');
const detailOf = (page: Page) => page.getByRole('region', { name: 'Lead', exact: true });

/** Sends a form with the `fields` of its event. */
const SENDER = `exports.run = async (event) => {
  const body = new URLSearchParams(JSON.parse(event).fields);
  const answer = await fetch('https://crm.example.com/servlet/servlet.WebToLead', { method: 'POST', body });
  return answer.status;
};`;

test('a form sent through the gateway appears in the inbox, checked field by field, and links to its invocation and back', async ({
  page,
  platform,
}) => {
  await platform.open(page, 'leads');
  await expect(page.getByRole('heading', { name: 'The inbox is empty' })).toBeVisible();
  await sendForm(platform);
  await expect(rowsOf(page)).toHaveCount(2);
  await expect(rowsOf(page).nth(1)).toContainText(
    /delivered.*Ada Lovelace.*Analytical Engines.*ada@example\.com.*contact-form/,
  );
  await sendForm(platform, { firstName: 'Grace', lastName: 'Hopper' });
  await expect(rowsOf(page).nth(1)).toContainText('Grace Hopper');

  await rowsOf(page).nth(2).click();
  await expect(detailOf(page)).toContainText('10 of 10 fields are mapped as expected');
  const table = detailOf(page).getByRole('table');
  await expect(table.getByRole('row').filter({ hasText: 'payload.message' })).toContainText(
    /00N5g00000XXXXX.*Please call me back.*Please call me back.*correct/,
  );
  await detailOf(page).getByRole('link', { name: 'this invocation' }).click();
  await expect(page.getByRole('heading', { name: 'Invocations', exact: true })).toBeVisible();
  await expect(page.getByRole('tab', { name: 'Event' })).toBeVisible();
  await page.getByRole('tab', { name: 'Outbound' }).click();
  await page.getByRole('link', { name: /lead/i }).last().click();
  await expect(rowsOf(page)).toHaveCount(2);
  await expect(rowsOf(page).nth(1)).toContainText('Ada Lovelace');
});

test('each form that was sent is one row with the place where it stopped and the next step', async ({
  page,
  platform,
}) => {
  const client = await lambdaClient(platform, page);
  // The API document declares this type of list.
  const endpoints = (await client.send('GET', '/meta/demo/apiendpoints?expand=true')) as {
    id: string;
    properties: { resource: string };
  }[];
  const form = endpoints.find(({ properties }) => properties.resource === '/lead');
  await sendForm(platform, { firstName: 'Grace' });
  await fetch(`${platform.ready.gatewayUrl}/website/lead`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"payload": {"firstName": "Grace",}}',
  });
  await client.send('PUT', '/inspect/outbound', {
    rules: [{ host: '{crm}', action: 'fail', status: 500, enabled: true }],
  });
  await sendForm(platform, { firstName: 'Grace' });
  await client.send('PATCH', `/meta/demo/apiendpoints/${form?.id}`, [
    { op: 'add', path: '/properties/plugins', value: { platformSecurity: { enabled: true } } },
  ]);
  await sendForm(platform, { firstName: 'Grace' });
  await platform.open(page, 'leads?q=grace');
  await expect(rowsOf(page)).toHaveCount(5);
  await expect(rowsOf(page).nth(1)).toContainText(/not authorized.*Grace.*Open the endpoint/);
  await expect(rowsOf(page).nth(2)).toContainText(/rejected by the CRM.*Grace.*Open the rule/);
  await expect(rowsOf(page).nth(3)).toContainText(/invalid JSON.*Edit and replay/);
  await expect(rowsOf(page).nth(4)).toContainText(/delivered.*Grace/);
  await expectNoFaults(page);
  await rowsOf(page).nth(1).click();
  await expect(detailOf(page).getByRole('button', { name: 'Send again' })).toBeVisible();
  await expectNoFaults(page);
  await rowsOf(page).nth(2).click();
  await detailOf(page).getByRole('button', { name: 'Disable the rule, and replay the failed invocation' }).click();
  await expect(rowsOf(page).filter({ hasText: 'delivered on replay' })).toHaveCount(1);
  await page.keyboard.press('Escape');
  await expect(detailOf(page)).toBeHidden();
  await page.getByRole('button', { name: '2 not delivered' }).click();
  await expect(rowsOf(page)).toHaveCount(3);
  await rowsOf(page).nth(2).getByRole('link', { name: 'Edit and replay' }).click();
  await expect(page.getByRole('dialog', { name: /Replay contact-form/ })).toBeVisible();
});

test('mistakes in a lead are listed, each with its correction', { tag: '@slow' }, async ({ page, platform }) => {
  const client = await lambdaClient(platform, page);
  const env = { CRM_API_BASEPATH: 'crm.example.com', CRM_OID: '00DRIGHT' };
  const lambda = await client.make('careless', SENDER, { env });
  const fields = {
    oid: '00DWRONG',
    lead_source: 'Website',
    first_name: 'Ada',
    last_name: '',
    company: 'Engine',
    extra: 'x',
  };
  const run = (body: object) => client.send('POST', `/inspect/lambdas/${lambda.id}/invoke`, body);
  await run({ payload: { firstName: 'Ada', lastName: 'Lovelace', company: 'Engines', email: 'a@b.c' }, fields });
  await platform.open(page, 'leads');
  await expect(rowsOf(page).nth(1)).toContainText('another');
  await rowsOf(page).nth(1).click();
  await expect(detailOf(page)).toContainText('2 of 10 fields are mapped as expected, 4 have no input');
  const wrong = detailOf(page).getByRole('list', { name: 'What is wrong' }).getByRole('listitem');
  await expect(wrong).toHaveText([
    /^oid another value was sent: send process\.env\.CRM_OID as oid; .*change CRM_OID in the environment/,
    'last_name in the payload, but sent empty: send payload.lastName as last_name, unchanged.',
    'company another value was sent: send payload.company as company, unchanged.',
    'email in the payload, but not in the form: send payload.email as email, unchanged.',
  ]);
  const row = (name: string) => detailOf(page).getByRole('row').filter({ hasText: name });
  await expect(row('00DWRONG')).toContainText(/00DRIGHT.*00DWRONG.*wrong/);
  await expect(row('payload.phone')).toContainText('no input');
  await expect(row('extra')).toContainText('extra');
  await detailOf(page).getByRole('link', { name: 'Open its environment' }).click();
  await expect(page.getByRole('tab', { name: 'Environment', selected: true })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Environment variables' })).toContainText('CRM_OID');

  // A form without oid is not a lead: it is red on every screen.
  await run({ payload: {}, fields: { first_name: 'Nobody' } });
  await platform.open(page, `invocations?q=lambda:careless`);
  await page.getByRole('grid', { name: 'Invocations' }).getByRole('row').nth(1).click();
  await page.getByRole('tab', { name: 'Outbound' }).click();
  await expect(page.getByRole('region', { name: 'Invocation', exact: true })).toContainText('400');
  expect((await platform.send(page, 'GET', '/inspect/leads')).body).toHaveLength(1);
});

test('a query filters the inbox, marks its matches and stays in the address; one lead or all leads are deleted', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await sendForm(platform);
  await sendForm(platform, { firstName: 'Grace', lastName: 'Hopper', company: 'Navy', email: 'grace@example.com' });
  await sendForm(platform, { firstName: '<b>Eve</b>', lastName: '<script>globalThis.hasRun=true</script>' });
  await platform.open(page, 'leads');
  await expect(rowsOf(page)).toHaveCount(4);
  await page.keyboard.press('/');
  await page.keyboard.type('company:navy GRACE');
  await expect(rowsOf(page)).toHaveCount(2);
  await expect(rowsOf(page).nth(1).locator('mark')).toHaveText(['Grace', 'Navy', 'grace']);
  await rowsOf(page).nth(1).click();
  await expect(detailOf(page).locator('mark').first()).toBeVisible();
  await page.reload();
  await expect(rowsOf(page)).toHaveCount(2);
  await expect(detailOf(page).getByRole('heading', { name: 'Grace Hopper' })).toBeVisible();
  await page.getByLabel('Query of leads').fill('phone:');
  await expect(page.getByRole('alert')).toContainText("the field 'phone:' does not exist");
  await page.getByLabel('Query of leads').fill('nobody at all');
  await expect(page.getByRole('heading', { name: 'No leads match' })).toBeVisible();
  await page.getByRole('button', { name: 'Clear the query' }).last().click();
  await expect(rowsOf(page)).toHaveCount(4);
  await expect(page.getByText('<b>Eve</b>').first()).toBeVisible();
  expect(await page.evaluate(() => 'hasRun' in globalThis)).toBe(false);

  await detailOf(page).getByRole('button', { name: 'Delete the lead' }).click();
  await expect(page.getByText('The lead was deleted.')).toBeVisible();
  await expect(rowsOf(page)).toHaveCount(3);
  await expect(page.getByText('Grace Hopper')).toBeHidden();
  const other = await page.context().newPage();
  await platform.open(other, 'leads');
  await expect(rowsOf(other)).toHaveCount(3);
  await page.getByRole('button', { name: 'Delete all leads' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete all 2 leads' }).click();
  await expect(page.getByRole('heading', { name: 'The inbox is empty' })).toBeVisible();
  await expect(other.getByRole('heading', { name: 'The inbox is empty' })).toBeVisible();
  await other.close();
});

test('ten thousand leads scroll, and a new one appears at the top', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.end('SIGTERM');
  await growLeads(platform.dataDir, 10_000);
  await platform.start();
  await platform.open(page, 'leads');
  await expect(page.getByRole('tab', { name: 'Inbox 10,000' })).toBeVisible();
  const grid = page.getByRole('grid', { name: 'Leads' });
  await grid.focus();
  // More are read as one gets near the end of what was read.
  await expect(async () => {
    await page.keyboard.press('End');
    await expect(grid).toHaveAttribute('aria-rowcount', '10001', { timeout: 1_000 });
  }).toPass();
  await page.keyboard.press('End');
  await expect(detailOf(page).getByRole('heading').first()).toBeVisible();
  await expect(rowsOf(page).last()).toHaveAttribute('aria-rowindex', '10001');
  expect(await rowsOf(page).count()).toBeLessThan(100);
  await page.keyboard.press('Home');
  await sendForm(platform);
  await expect(rowsOf(page).nth(1)).toContainText('Ada Lovelace');
  await page.getByLabel('Query of leads').fill('name:"Number 4321"');
  await expect(rowsOf(page)).toHaveCount(2);
});

/** Returns the outcome of a call to the `url` of its event. */
const CALLER = `exports.run = async (event) => {
  const { url, fields } = JSON.parse(event);
  const startedMs = Date.now();
  try {
    const answer = await fetch(url, fields && { method: 'POST', body: new URLSearchParams(fields) });
    return { status: answer.status, text: await answer.text(), tookMs: Date.now() - startedMs };
  } catch (error) {
    return { code: error.cause?.code ?? error.code, tookMs: Date.now() - startedMs };
  }
};`;

test('rules to intercept, pass, block, delay and fail are created in the window, and apply to outbound calls', {
  tag: '@slow',
}, async ({ page, platform }) => {
  const server = createServer((_, response) => response.end('the host itself'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a server on a port has one
  const host = `127.0.0.1:${port}`;
  const client = await lambdaClient(platform, page);
  const caller = await client.make('caller', CALLER, { env: { CRM_API_BASEPATH: 'crm.example.com' } });
  const plain = await client.make('plain', CALLER);
  const call = async ({ id }: LambdaRecord, event: object) => {
    const answer = await client.send('POST', `/inspect/lambdas/${id}/invoke`, event);
    // The result of this lambda.
    const { outcome } = answer as {
      outcome: { result: { status?: number; code?: string; text?: string; tookMs: number } };
    };
    return outcome.result;
  };
  const direct = { url: `http://${host}/` };
  const table = page.getByRole('table', { name: 'Outbound rules in the order of evaluation' });
  const add = async (text: string, action: string, more?: () => Promise<unknown>) => {
    await page.getByRole('button', { name: 'Add a rule' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a rule' });
    await dialog.getByLabel('Calls to').fill(text);
    await dialog.getByRole('button', { name: /Effect/ }).click();
    await page.getByRole('option', { name: action }).click();
    await more?.();
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await expect(dialog).toBeHidden();
    await expect(table.getByRole('button', { name: 'Delete rule 1' })).toBeEnabled();
  };
  const drop = async () => {
    await table.getByRole('button', { name: 'Delete rule 1' }).click();
    await expect(table.getByRole('button', { name: 'Delete rule 1' })).toBeHidden();
  };
  await platform.open(page, 'leads?tab=rules');
  await expect(table).toContainText('caught by the mock CRM');
  expect(await call(plain, direct)).toMatchObject({ status: 200, text: 'the host itself' });

  await add(host, 'Fail');
  await expect(table).toContainText(`${host}returns 503`);
  expect(await call(plain, direct)).toMatchObject({ status: 503 });
  await table.getByRole('button', { name: 'Edit rule 1' }).click();
  await page.getByRole('dialog').getByRole('radio', { name: 'Network error' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Error|ECONN/ })
    .click();
  await page.getByRole('option', { name: 'ECONNRESET' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(table).toContainText('fails with ECONNRESET');
  expect(await call(plain, direct)).toMatchObject({ code: 'ECONNRESET' });
  // A disabled rule does not match.
  await table.getByText('on', { exact: true }).click();
  await expect(table.getByText('off', { exact: true })).toBeVisible();
  expect(await call(plain, direct)).toMatchObject({ status: 200 });
  await drop();

  await add('*', 'Block');
  expect(await call(plain, direct)).toMatchObject({ code: 'ECONNREFUSED' });
  await drop();

  await add(host, 'Delay', () => page.getByRole('dialog').getByRole('textbox', { name: 'For how long' }).fill('900'));
  await expect(table).toContainText('waits 900 ms, then the next rules apply');
  await table.getByRole('button', { name: 'Edit rule 1' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'For how long' }).fill('700');
  await page.keyboard.press('Enter');
  await expect(table).toContainText('waits 700 ms, then the next rules apply');
  const delayed = await call(plain, direct);
  expect(delayed).toMatchObject({ status: 200, text: 'the host itself' });
  expect(delayed.tookMs).toBeGreaterThanOrEqual(690);
  await drop();

  const lead = { url: 'https://crm.example.com/servlet/servlet.WebToLead', fields: { oid: '1', first_name: 'Caught' } };
  expect(await call(caller, lead)).toMatchObject({ status: 200 });
  await add('shop.example', 'Catch');
  const elsewhere = { ...lead, url: 'https://shop.example/servlet/servlet.WebToLead' };
  expect(await call(plain, elsewhere)).toMatchObject({ status: 200 });
  await expect(page.getByRole('tab', { name: 'Inbox 2' })).toBeVisible();
  await drop();

  await page.getByRole('button', { name: 'Add a rule' }).click();
  await page.getByRole('dialog').getByLabel('Calls to').fill('no host!');
  await expect(page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true })).toBeDisabled();
  await page.getByRole('dialog').getByRole('button', { name: "The lambda's CRM" }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /Effect/ })
    .click();
  await page.getByRole('option', { name: 'Pass' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }).click();
  await expect(table.getByRole('button', { name: 'Delete rule 1' })).toBeEnabled();
  expect(await call(caller, direct)).toMatchObject({ status: 200, text: 'the host itself' });

  // The invocation names the rule that matched its call; a preset is one click.
  await page.getByRole('button', { name: 'CRM returns 500' }).click();
  const row = (number: number) => table.getByRole('row').nth(number);
  await expect(row(1)).toContainText('returns 500');
  await expect(row(2)).toContainText(/goes to its host.*never used: rule 1 decides/);
  await table.getByRole('button', { name: 'Move rule 2 up' }).click();
  await expect(row(2)).toContainText(/returns 500.*never used: rule 1 decides/);
  await table.getByRole('button', { name: 'Move rule 1 down' }).click();
  await expect(row(1)).toContainText('returns 500');
  await expect(table.getByRole('button', { name: 'Delete rule 1' })).toBeEnabled();
  expect(await call(caller, lead)).toMatchObject({ status: 500 });
  await platform.open(page, 'invocations?q=lambda:caller');
  await page.getByRole('grid', { name: 'Invocations' }).getByRole('row').nth(1).click();
  await page.getByRole('tab', { name: 'Outbound' }).click();
  await expect(page.getByText('fail with 500 for {crm}').first()).toBeVisible();
  await new Promise((resolve) => server.close(resolve));
});

test('a rule that answers is created in the window, and a lambda receives its JSON for the number of calls in the rule', {
  tag: '@slow',
}, async ({ page, platform }) => {
  const server = createServer((_, response) => response.end('the host itself'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a server on a port has one
  const host = `127.0.0.1:${port}`;
  const client = await lambdaClient(platform, page);
  const { id } = await client.make('captcha', CALLER);
  await platform.open(page, 'leads?tab=rules');
  await page.getByRole('button', { name: 'Add a rule' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a rule' });
  await dialog.getByLabel('Calls to').fill(host);
  await dialog.getByRole('button', { name: /Effect/ }).click();
  await page.getByRole('option', { name: 'Answer' }).click();
  await dialog.getByLabel('Text or JSON', { exact: true }).fill('{"success": true}');
  await dialog.getByRole('textbox', { name: 'Number of calls (0: all)' }).fill('1');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  const table = page.getByRole('table', { name: 'Outbound rules in the order of evaluation' });
  await expect(table).toContainText(`${host}answers with 200, one call`);
  await expect(table.getByRole('button', { name: 'Delete rule 1' })).toBeEnabled();
  const call = () => client.send('POST', `/inspect/lambdas/${id}/invoke`, { url: `http://${host}/siteverify` });
  expect(await call()).toMatchObject({ outcome: { result: { status: 200, text: '{"success":true}' } } });
  expect(await call()).toMatchObject({ outcome: { result: { status: 200, text: 'the host itself' } } });
  await new Promise((resolve) => server.close(resolve));
});

test('axe finds no violation on the inbox, a lead, rules and dialogs, light and dark', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  const client = await lambdaClient(platform, page);
  await platform.open(page, 'leads');
  await expect(page.getByRole('heading', { name: 'The inbox is empty' })).toBeVisible();
  await expectNoFaults(page);
  const env = { CRM_API_BASEPATH: 'crm.example.com', CRM_OID: '00DRIGHT' };
  const { id } = await client.make('careless', SENDER, { env });
  await client.send('POST', `/inspect/lambdas/${id}/invoke`, {
    ...WEB_FORM,
    fields: { oid: '2', first_name: 'Ada' },
  });
  await platform.open(page, 'leads?q=ada');
  await rowsOf(page).nth(1).click();
  await expect(detailOf(page).getByRole('list', { name: 'What is wrong' })).toBeVisible();
  await expect(page.locator('mark').first()).toBeVisible();
  await expectNoFaults(page);
  await page.getByRole('button', { name: 'Delete all leads' }).click();
  await expectNoFaults(page);
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Outbound rules' }).click();
  await page.getByRole('button', { name: 'CRM returns 500' }).click();
  await page.getByRole('button', { name: 'CRM is down' }).click();
  await expect(page.getByText('never used: rule 1 decides')).toBeVisible();
  await expectNoFaults(page);
  await page.getByRole('button', { name: 'Edit rule 1' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  await expectNoFaults(page);
});
