import { join } from 'node:path';
import { expectNoFaults } from './axe.ts';
import { lambdaClient } from './lambda-client.ts';
import { expect, type Page, test } from './window.ts';

test.use({ startOptions: { lambdas: { modules: join(import.meta.dirname, '..') } } });

const rowsOf = (page: Page) => page.getByRole('grid', { name: 'Mails' }).getByRole('row');
const detailOf = (page: Page) => page.getByRole('region', { name: 'Mail', exact: true });

const HTML = `<style>h1 { color: rgb(1, 2, 3) }</style><h1 style="width: 77px">Welcome</h1>
  <script>document.querySelector('h1').textContent = 'replaced'</script>
  <img id="remote" src="https://tracker.example/x.png" onerror="document.querySelector('h1').textContent = 'replaced'">
  <a href="https://phishing.example/">Confirm</a>`;

/** Sends a mail; to an address, because tests look up no names outside this machine. */
const SENDER = `const { createTransport } = require('nodemailer');
exports.run = () => createTransport({ host: '192.0.2.25', port: 587 }).sendMail({
  from: 'Shop <shop@example.com>', to: 'Ada <ada@example.com>', subject: 'Your order', text: 'It costs 5 EUR',
  html: ${JSON.stringify(HTML)}, attachments: [{ filename: '../../bill.txt', content: 'five euros' }],
}).then(() => 'sent');`;

test('a mail that a lambda sends appears in the inbox with its HTML, in which nothing runs, and leads to its invocation', async ({
  page,
  platform,
}) => {
  const client = await lambdaClient(platform, page);
  const { id } = await client.make('mailer', SENDER);
  await platform.open(page, 'mails');
  await expect(page.getByRole('heading', { name: 'The inbox is empty' })).toBeVisible();
  expect(await client.send('POST', `/inspect/lambdas/${id}/invoke`)).toMatchObject({ outcome: { result: 'sent' } });
  await expect(rowsOf(page)).toHaveCount(2);
  await expect(rowsOf(page).nth(1)).toContainText(/ada@example\.com.*Your order.*It costs 5 EUR.*mailer/);
  await page.getByRole('searchbox', { name: 'Find mails' }).fill('no such mail');
  await expect(rowsOf(page)).toHaveCount(1);
  await page.getByRole('searchbox', { name: 'Find mails' }).fill('5 eur');
  await rowsOf(page).nth(1).click();
  const detail = detailOf(page);
  await expect(detail).toContainText('Ada <ada@example.com>');

  const mail = detail.frameLocator('iframe').frameLocator('iframe');
  const heading = mail.getByRole('heading', { name: 'Welcome' });
  await expect(heading).toHaveCSS('color', 'rgb(1, 2, 3)');
  await expect(heading).toHaveCSS('width', '77px');
  expect(await mail.locator('#remote').evaluate((image) => Reflect.get(image, 'naturalWidth'))).toBe(0);
  await mail.getByRole('link', { name: 'Confirm' }).click();
  expect(page.frames().map((frame) => new URL(frame.url()).host)).not.toContain('phishing.example');
  await expectNoFaults(page);

  await detail.getByRole('tab', { name: 'Source' }).click();
  await expect(detail.locator('pre')).toContainText('Subject: Your order');
  const saved = page.waitForEvent('download');
  await detail.getByRole('button', { name: 'bill.txt' }).click();
  expect((await saved).suggestedFilename()).toBe('bill.txt');

  await detail.getByRole('link', { name: 'this invocation' }).click();
  await page.getByRole('tab', { name: 'Outbound' }).click();
  await page.getByRole('link', { name: 'See the mail' }).click();
  await expect(rowsOf(page)).toHaveCount(2);
  await page.getByRole('button', { name: 'Delete all mails' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete all mails' }).click();
  await expect(rowsOf(page)).toHaveCount(1);
});

const SIGN_UP = `const { createTransport } = require('nodemailer');
exports.contact = async (event) => {
  const { email, lastName } = JSON.parse(event).payload;
  const body = new URLSearchParams({ oid: process.env.CRM_OID, email, last_name: lastName });
  const answer = await fetch('https://crm.example.com/servlet/servlet.WebToLead', { method: 'POST', body });
  if (!answer.ok) throw new Error('the CRM answered ' + answer.status);
  await createTransport({ host: '192.0.2.25', port: 587 }).sendMail({
    from: 'shop@example.com', to: email, subject: 'Thank you, ' + lastName, text: 'We call you back.',
  });
  return 'SUCCESS';
};`;

test('a form that was sent through the gateway leads to its lead, and from there to the mail that its lambda sent', async ({
  page,
  platform,
}) => {
  const client = await lambdaClient(platform, page);
  const form = await client.find('contact-form');
  await client.patch(
    form.id,
    { op: 'replace', path: '/properties/code', value: SIGN_UP },
    { op: 'replace', path: '/properties/handler', value: 'contact' },
  );
  const answer = await fetch(`${platform.ready.gatewayUrl}/website/lead`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ payload: { lastName: 'Hopper', email: 'grace@example.com' } }),
  });
  expect(await answer.text()).toBe('SUCCESS');

  await platform.open(page, 'leads');
  const leads = page.getByRole('grid', { name: 'Leads' }).getByRole('row');
  await expect(leads.nth(1)).toContainText(/delivered.*Hopper.*grace@example\.com.*contact-form/);
  await leads.nth(1).click();
  await page.getByRole('region', { name: 'Lead', exact: true }).getByRole('link', { name: 'this invocation' }).click();
  await page.getByRole('tab', { name: 'Outbound' }).click();
  await page.getByRole('link', { name: 'See the mail' }).click();
  await rowsOf(page).filter({ hasText: 'Thank you, Hopper' }).click();
  await expect(detailOf(page)).toContainText('We call you back.');
  await expect(detailOf(page)).toContainText('grace@example.com');
});
