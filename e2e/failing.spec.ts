import { WEB_FORM } from '../server/model/web-form.ts';
import { expectNoFaults } from './axe.ts';
import { growInvocations } from './long-past.ts';
import { expect, type Page, test, type WindowPlatform } from './window.ts';

const sendForm = (platform: WindowPlatform, firstName: string) =>
  platform.call('/website/lead', { payload: { ...WEB_FORM.payload, firstName } });
const failing = (page: Page) => page.getByRole('region', { name: 'Failing' });
const leads = (page: Page) => page.getByRole('grid', { name: 'Leads' }).getByRole('row');

/** Removes a variable of the demo's lambda as another user. @returns the number of the commit */
async function forget(platform: WindowPlatform, page: Page, name: string): Promise<number> {
  const found = await platform.send(page, 'GET', '/meta/demo/lambdas?name=contact-form');
  const [{ id }] = found.body as [{ id: string }]; // as the API document says
  const patch = [{ op: 'remove', path: `/properties/env/${name}` }];
  expect((await platform.send(page, 'PATCH', `/meta/demo/lambdas/${id}`, patch)).status).toBe(200);
  const history = await platform.send(page, 'GET', '/inspect/history?limit=1');
  return (history.body as { newest: number }).newest;
}

test('a missing lead is explained on Home, and one click restores it', async ({ page, platform }) => {
  await platform.open(page);
  await sendForm(platform, 'Ada');
  const commit = await forget(platform, page, 'CRM_OID');
  for (const name of ['Grace', 'Margaret']) expect(await (await sendForm(platform, name)).text()).toBe('SUCCESS');

  await expect(failing(page)).toContainText(
    /contact-form: the CRM rejected this form: the form has no 'oid'.*\(2 times/,
  );
  await expect(failing(page)).toContainText(
    new RegExp(`Since root removed CRM_OID on contact-form .* in commit ${commit}`),
  );
  await expect(page.getByRole('navigation', { name: 'Screens' })).toContainText('2 not delivered');
  const map = page.getByRole('region', { name: 'Live map' });
  await expect(map.getByRole('listitem').filter({ hasText: 'Mock CRM' })).toContainText('2 failed');
  await expectNoFaults(page);

  // The only click.
  await failing(page).getByRole('button', { name: 'Undo it, and replay the 2 undelivered forms' }).click();
  await expect(page.getByText('2 of 2 forms delivered.')).toBeVisible();
  await expect(failing(page)).toBeHidden();

  await expect(page.getByRole('navigation', { name: 'Screens' })).not.toContainText('not delivered');
  await platform.open(page, 'leads?q=is:resent');
  await expect(leads(page)).toHaveCount(3);
  await leads(page).nth(1).click();
  await page.getByRole('link', { name: 'this lead' }).click();
  await expect(page.getByRole('link', { name: 'the rejected form' })).toBeVisible();
  await platform.open(page, 'leads?q=is:received');
  await expect(leads(page)).toHaveCount(4);
  await expect(leads(page).filter({ hasText: 'Grace' })).toHaveCount(1);
  await expect(leads(page).filter({ hasText: 'Margaret' })).toHaveCount(1);
});

test('a failed lead is red in the list, the traffic and the inbox', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  await sendForm(platform, 'Charles');
  await forget(platform, page, 'CRM_OID');
  await platform.call('/website/lead', { payload: { firstName: 'Ada', Company: 'Engines', newsletter: 'yes' } });

  await platform.open(page, 'invocations?q=outbound:error');
  const row = page.getByRole('grid', { name: 'Invocations' }).getByRole('row').nth(1);
  await expect(row).toContainText(/call failed.*1 of 1/);
  await row.click();
  const detail = page.getByRole('region', { name: 'Invocation', exact: true });
  await expect(detail.getByRole('note')).toContainText("The CRM rejected this form: the form has no 'oid'");
  await expect(detail.getByRole('tab', { name: 'Outbound', selected: true })).toBeVisible();

  await platform.open(page, 'gateway?q=outbound:error');
  await expect(page.getByRole('grid', { name: 'Requests' }).getByRole('row').nth(1)).toContainText('200, call failed');

  await platform.open(page, 'leads');
  await expect(leads(page).nth(1)).toContainText(/rejected.*Ada/);
  await leads(page).nth(1).click();
  const lead = page.getByRole('region', { name: 'Lead', exact: true });
  await expect(lead.getByRole('note')).toContainText('The CRM rejected this form (400).');
  await expect(lead).toContainText(/2 of 10 fields are mapped as expected, 7 have no input/);
  await expect(lead.getByRole('list', { name: 'Payload values missing from the form' })).toContainText(
    /payload\.Company: did you mean company\?.*payload\.newsletter/,
  );
  await expectNoFaults(page);
  await lead.getByRole('button', { name: 'Undo it, and replay the undelivered form' }).click();
  await expect(lead).toContainText('Replayed and delivered.');
  await expect(leads(page)).toHaveCount(4);
});

test('a change with no successful call before it is named, without the recommendation to undo it', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await platform.open(page);
  const commit = await forget(platform, page, 'CRM_OID');
  await sendForm(platform, 'Ada');
  await expect(failing(page)).toContainText(
    new RegExp(`It has never succeeded\\. Last change: root removed CRM_OID .* in commit ${commit}`),
  );
  await expect(failing(page).getByRole('button', { name: 'Replay the undelivered form' })).toBeVisible();
  await expect(failing(page).getByRole('button', { name: /Undo/ })).toBeHidden();
});

test('the editor reports a variable that the code reads and that is not set, before a run', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page);
  await forget(platform, page, 'CRM_PATH');
  await platform.open(page, 'lambdas');
  await page
    .getByRole('link', { name: /contact-form/ })
    .or(page.getByRole('row', { name: /contact-form/ }))
    .first()
    .click();
  const notice = page.getByRole('status').filter({ hasText: 'not set' });
  await expect(notice).toContainText(/reads a variable that is not set:.*CRM_PATH/);
  await notice.getByRole('link', { name: 'Set it' }).click();
  await expect(page.getByRole('tab', { name: 'Environment', selected: true })).toBeVisible();
});

test('ten thousand failures with one cause are one card, and their replay can be canceled', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.end('SIGTERM');
  await growInvocations(platform.dataDir, 'order-status', '/1001', 10_000, {
    ok: false,
    failure: 'error',
    message: 'the warehouse does not answer',
    value: { kind: 'nothing' },
  });
  await platform.start();
  await platform.open(page);
  await expect(failing(page).getByRole('listitem')).toHaveCount(1);
  await expect(failing(page)).toContainText(/order-status: .*the warehouse does not answer.*\(10,000 times/);
  await failing(page).getByRole('button', { name: 'Replay the 10,000 failed invocations' }).click();
  const progress = failing(page).getByRole('status');
  await expect(progress).toContainText(/\d+ of 10,000 replayed/);
  // It remains visible on other screens, although the lambda no longer fails.
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Invocations' }).click();
  const rows = page.getByRole('grid', { name: 'Invocations' }).getByRole('row');
  await expect(rows.filter({ hasText: /^ok/ }).first()).toBeVisible();
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Home' }).click();
  await expect(progress).toContainText(/\d+ of 10,000 replayed/);
  await failing(page).getByRole('button', { name: 'Stop' }).click();
  // The window continues, and shows the progress.
  await expect(page.getByText(/replays? (succeeded|failed again)/)).toBeVisible();
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Invocations' }).click();
  await expect(page.getByRole('button', { name: /failed$/ })).toBeVisible();
});
