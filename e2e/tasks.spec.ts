import { WEB_FORM } from '../server/model/web-form.ts';
import { beginTask } from './clicks.ts';
import { expect, type Page, test, type WindowPlatform, withoutPrefetching } from './window.ts';

const SLOW = 'exports.run = (event, context, callback) => setTimeout(() => callback(null, "slow"), 400);';

const sendForm = (platform: WindowPlatform) => platform.call('/website/lead', WEB_FORM);
const sidebar = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name });

/** The name of the lambda with the slowest call. */
async function slowestOf(page: Page, platform: WindowPlatform): Promise<string> {
  const { body } = await platform.send(page, 'GET', '/inspect/invocations');
  const { invocations } = body as { invocations: { lambdaName: string; durationMs: number }[] };
  return invocations.reduce((slowest, invocation) =>
    invocation.durationMs > slowest.durationMs ? invocation : slowest,
  ).lambdaName;
}

test('tasks take few clicks: a first lead, the slowest call of the last minute, a manual request', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await platform.open(page);
  const firstLead = await beginTask(page, 'a first lead');
  await page.getByRole('button', { name: 'Send the form' }).click();
  await page.getByRole('link', { name: '1 in the inbox' }).click();
  await page.getByRole('grid', { name: 'Leads' }).getByRole('row').nth(1).click();
  await expect(page.getByRole('region', { name: 'Lead', exact: true })).toContainText('Analytical Engines');
  await firstLead();

  // It was sent through the gateway, like a visitor's.
  const { body } = await platform.send(page, 'GET', '/inspect/traffic?plane=gateway');
  expect(body).toMatchObject({ requests: [{ method: 'POST', target: '/website/lead', status: 200 }] });

  const lambdas = await platform.send(page, 'GET', '/meta/demo/lambdas?expand=true');
  const form = (lambdas.body as { id: string; name: string }[]).find(({ name }) => name === 'order-status');
  const patchReply = await platform.send(page, 'PATCH', `/meta/demo/lambdas/${form?.id}`, [
    { op: 'replace', path: '/properties/code_type', value: 'inline' },
    { op: 'add', path: '/properties/code', value: SLOW },
    { op: 'replace', path: '/properties/handler', value: 'run' },
  ]);
  expect(patchReply.status, JSON.stringify(patchReply.body)).toBe(200);
  await platform.call('/website/orders/1001');
  await sendForm(platform);

  await sidebar(page, 'Invocations').click();
  const rows = page.getByRole('grid', { name: 'Invocations' }).getByRole('row');
  await expect(rows).toHaveCount(4);
  // The lambda with a delay, unless the first process of another one took longer on a busy machine.
  const slowest = await slowestOf(page, platform);
  const slowestCall = await beginTask(page, 'the slowest call of the last minute');
  await page.getByRole('radio', { name: '1 min' }).click();
  await page.getByRole('button', { name: /^slowest / }).click();
  await expect(page.getByRole('region', { name: 'Invocation', exact: true })).toBeVisible();
  await expect(page.getByRole('heading', { name: slowest })).toBeVisible();
  await slowestCall();

  await page.keyboard.press('Escape');
  await expect(page.getByRole('region', { name: 'Invocation', exact: true })).toBeHidden();
  // The list begins with it, also if it was on a page that had not been read.
  await expect(rows.nth(1)).toContainText(slowest);
  await expect(page).toHaveURL(/sort=-duration/);

  await sidebar(page, 'Gateway').click();
  const manualTask = await beginTask(page, 'a request by hand');
  await page.getByRole('button', { name: 'Send a request to orders' }).click();
  const dialog = page.getByRole('dialog', { name: 'Send a request' });
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(dialog.getByRole('region', { name: 'Response' })).toContainText('slow');
  await manualTask();
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();

  // A request can be sent as a user of the endpoint, without the user's password.
  await page.getByRole('button', { name: 'Send a request to deploy' }).click();
  const answer = dialog.getByRole('region', { name: 'Response' });
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(answer).toContainText('401');
  await dialog.getByLabel('or as the user').click();
  await page.getByRole('option', { name: 'ci-service' }).click();
  await dialog.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(answer).toContainText('missing: org');
});

test('an e-mail address is followed from its form to its lead, and invocations are compared, in few clicks', {
  tag: '@slow',
}, async ({ page, platform }) => {
  for (const email of ['ada@example.com', 'grace@example.com']) {
    await platform.call('/website/lead', { payload: { ...WEB_FORM.payload, email } });
  }
  await platform.open(page);
  const found = await beginTask(page, 'what became of an e-mail address');
  await page.keyboard.press('Control+K');
  await page.keyboard.type('grace@example.com');
  const chain = page.getByRole('option').filter({ hasText: /^(Form|Request|Invocation|CRM call|Lead)/ });
  await expect(chain).toHaveText([/^Form/, /^Request/, /^Invocation/, /^CRM call/, /^Lead/]);
  await chain.last().click();
  await expect(page.getByRole('region', { name: 'Lead', exact: true })).toContainText('grace@example.com');
  await found();

  await sidebar(page, 'Invocations').click();
  const compared = await beginTask(page, 'two invocations side by side');
  await page.getByRole('grid', { name: 'Invocations' }).getByRole('row').nth(1).click();
  await page.getByRole('tab', { name: 'Compare' }).click();
  const sides = page.getByRole('tabpanel');
  await expect(sides).toContainText('grace@example.com');
  await expect(sides).toContainText('ada@example.com');
  await compared();
});

test('a list saves a view, hides a column, and lists the words of its queries', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await sendForm(platform);
  await platform.open(page, 'invocations');
  const grid = page.getByRole('grid', { name: 'Invocations' });
  await expect(grid.getByRole('row')).toHaveCount(2);

  await page.getByLabel('Query of invocations').fill('status:eror');
  await expect(page.getByRole('alert')).toContainText("did you mean 'error'?");
  // Free text also searches the events.
  await page.getByLabel('Query of invocations').fill('Lovelace');
  await expect(grid.getByRole('row')).toHaveCount(2);
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view...' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Ada');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Failed', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'No invocations match' })).toBeVisible();
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Ada', exact: true }).click();
  await expect(page.getByLabel('Query of invocations')).toHaveValue('Lovelace');
  await expect(grid.getByRole('row')).toHaveCount(2);

  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitem', { name: /^Trigger/ }).click();
  await expect(grid.getByRole('columnheader', { name: 'Trigger' })).toHaveCount(0);

  // Without space for both, the detail replaces the list.
  await page.setViewportSize({ width: 720, height: 450 });
  await grid.getByRole('row').nth(1).click();
  await page.getByRole('button', { name: 'Back to the list' }).click();
  await expect(grid.getByRole('row').nth(1)).toBeVisible();
});

test.describe('without prefetching', () => {
  test.use({ discardsPage: true });
  test.beforeEach(({ page }) => withoutPrefetching(page));

  test('a part whose loading was interrupted once is loaded again', { tag: '@slow' }, async ({ page, platform }) => {
    await platform.open(page);
    let aborted = 0;
    await page.route('**/assets/*.js', (route) => (aborted++ === 0 ? route.abort() : route.continue()));
    await sidebar(page, 'Pipelines').click();
    await expect(page.getByRole('heading', { name: 'Pipelines', exact: true })).toBeVisible();
    expect(aborted).toBeGreaterThan(1);
    await page.unroute('**/assets/*.js');
  });

  test('a window whose first script cannot be loaded says so', { tag: '@slow' }, async ({ page, platform }) => {
    await page.route('**/assets/index-*.js', (route) => route.abort());
    await page.goto(`${platform.windowOrigin}/ui/`);
    await expect(page.getByText('The window was not loaded.')).toBeVisible({ timeout: 30_000 });
    await page.unroute('**/assets/index-*.js');
    await page.getByRole('link', { name: 'Load it again' }).click();
    await expect(page.getByText('The window was not loaded.')).toBeHidden();
  });

  test('active modes are visible and can be ended there, and a part that cannot be loaded is an error in its place', {
    tag: '@slow',
  }, async ({ page, platform }) => {
    await platform.open(page);
    await page.route('**/assets/*.js', (route) => route.abort());
    await sidebar(page, 'Pipelines').click();
    await expect(page.getByRole('alert')).toContainText('could not be loaded');
    await page.unroute('**/assets/*.js');
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByRole('heading', { name: 'Pipelines', exact: true })).toBeVisible();

    const rules = [{ host: '{crm}', action: 'fail', status: 503, enabled: true }];
    await platform.send(page, 'PUT', '/inspect/outbound', { rules });
    const active = page.getByRole('list', { name: 'Outbound rules that are on' });
    await expect(active).toContainText('CRM returns 503');
    await active.getByRole('button').click();
    await expect(active).toBeHidden();

    // A rule that makes a call fail is shown as the cause, and can be disabled there.
    await platform.send(page, 'PUT', '/inspect/outbound', { rules });
    await sendForm(platform);
    await sidebar(page, 'Home').click();
    const failing = page.getByRole('region', { name: 'Failing' });
    await expect(failing).toContainText('Caused by the outbound rule fail with 503 for {crm}.');
    await failing.getByRole('button', { name: /^Disable the rule, and / }).click();
    await expect(active).toBeHidden();
    await expect(failing).toBeHidden();

    await page.keyboard.press('Shift+P');
    await expect(page.locator('html')).toHaveAttribute('data-presenting', '');
    await sendForm(platform);
    const again = await beginTask(page, 'the demonstration begins again');
    await page.keyboard.press('Shift+R');
    await expect(page.getByRole('button', { name: 'Restart demo' })).toBeEnabled();
    await page.keyboard.press('Enter');
    await expect(page.getByText('Restored the demo world; the inbox is empty.')).toBeVisible();
    await again();
    expect((await platform.send(page, 'GET', '/inspect/leads')).body).toEqual([]);
  });
});
