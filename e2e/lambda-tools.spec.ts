import type { Route } from '@playwright/test';
import { DebuggerSession } from '../server/testing/debugger-session.ts';
import { expectNoFaults } from './axe.ts';
import { codeOf, consoleOf, lambdaClient, openLambda, reviewSaves, write } from './lambda-client.ts';
import { expect, test } from './window.ts';

const HELLO = 'exports.run = (event, context, callback) => {\n  callback(null, "hello");\n};\n';

test('a debugger attaches to the shown address, and stops in the code', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  const client = await lambdaClient(platform, page);
  const lambda = await client.make('debugged', HELLO, { timeout: 1 });
  await openLambda(platform, page, lambda);
  await page.getByRole('tab', { name: 'Debug' }).click();
  expect(page.url()).toContain('tab=debug');
  await page.getByRole('button', { name: 'Start debugging' }).click();
  const panel = page.getByRole('tabpanel');
  await expect(panel).toContainText('waiting for a debugger and for calls');
  const url = /ws:\/\/127\.0\.0\.1:\d+\/[0-9a-f-]+/.exec(await panel.innerText())?.[0] ?? '';
  const file = /\S+index\.js/.exec(await panel.innerText())?.[0] ?? '';
  const snippet = JSON.parse(await panel.locator('pre').innerText());
  expect(snippet.configurations[0]).toMatchObject({ request: 'attach', websocketAddress: url });

  const inspection = await DebuggerSession.attach(url);
  await inspection.breakAt(file, 1);
  const paused = inspection.paused();
  await page.keyboard.press('ControlOrMeta+Enter');
  await paused;
  await expect(consoleOf(page)).toContainText('it may be paused at a breakpoint');
  await inspection.close();
  await expect(consoleOf(page).getByRole('region', { name: 'Result' })).toContainText('hello');

  // A second platform has its own address.
  const other = await client.make('other', HELLO);
  await openLambda(platform, page, other, 'debug');
  await page.getByRole('button', { name: 'Start debugging' }).click();
  await expect(panel).toContainText('waiting for a debugger');
  await expect(panel).not.toContainText(new URL(url).host);
  await openLambda(platform, page, lambda, 'debug');
  await expect(page.getByRole('tab', { name: 'Debug (on)' })).toBeVisible();
  await page.getByRole('button', { name: 'Stop debugging' }).click();
  await expect(page.getByRole('tab', { name: 'Debug', exact: true })).toBeVisible();
});

const YEARLY = { periodic_info: { cron: '0 12 1 1 *', timezone: 'UTC' } };

test.describe('with schedules on', () => {
  test.use({ startOptions: { lambdas: { periodic: true } } });

  test('a scheduled lambda shows its next run', { tag: '@slow' }, async ({ page, platform }) => {
    const client = await lambdaClient(platform, page);
    const { nextAt } = await client.scheduleOf(await client.make('new-year', HELLO, YEARLY));
    expect(nextAt).toMatch(/-01-01T12:00:00\.000Z$/);
    await openLambda(platform, page, await client.find('new-year'));
    const line = page.getByRole('region', { name: 'Workbench' }).getByText('runs next');
    await expect(line.locator('time')).toHaveAttribute('datetime', nextAt);
    await expect(line).toContainText(/\d Jan \d{4}/);
  });
});

test('an endpoint shows its limit and a public address that responds, and a scheduled lambda that the schedule is off', {
  tag: '@slow',
}, async ({ page, context, platform }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const client = await lambdaClient(platform, page);
  await openLambda(platform, page, await client.find('contact-form'), 'endpoints');
  const address = `${platform.ready.gatewayUrl}/website/lead`;
  await expect(page.getByRole('tabpanel')).toContainText(address);
  await expect(page.getByRole('tabpanel')).toContainText('60 a minute');
  await page.getByRole('button', { name: 'Copy public address' }).click();
  await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(address);
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await expect(page.getByText('The curl command is on the clipboard.')).toBeVisible();
  const curl = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(curl).toContain(address);
  expect(curl).toContain('"firstName"');
  await openLambda(platform, page, await client.make('inner', HELLO), 'endpoints');
  await expect(page.getByRole('heading', { name: 'No public endpoint' })).toBeVisible();

  await openLambda(platform, page, await client.make('new-year', HELLO, YEARLY));
  const workbench = page.getByRole('region', { name: 'Workbench' });
  await expect(workbench).toContainText('not run on schedule: lambdas.periodic is off');
  await openLambda(platform, page, await client.make('plain', HELLO));
  await expect(workbench).not.toContainText('by the clock');
});

test('a lambda is created, found, run and read by keyboard', async ({ page, platform }) => {
  await platform.open(page, 'lambdas');
  const grid = page.getByRole('grid', { name: 'Lambdas' });
  await expect(grid.getByRole('row')).toHaveCount(5);
  await page.getByRole('button', { name: 'New lambda' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'New lambda' });
  await expect(dialog.getByLabel('Name')).toBeFocused();
  await page.keyboard.type('by-keyboard');
  await page.keyboard.press('Tab');
  await page.keyboard.type('integ');
  await expect(page.getByRole('option').first()).toContainText('integration');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('combobox', { name: 'In' })).toHaveValue('integration');
  await dialog.getByLabel('Name').focus();
  await expect(dialog.getByRole('button', { name: 'Create lambda' })).toBeEnabled();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'by-keyboard' })).toBeVisible();
  await expect(codeOf(page)).toContainText("'Hello from '");

  // Found by a part of its name; the address contains the search text.
  await page.keyboard.press('/');
  await page.keyboard.type('KEYB');
  await expect(grid.getByRole('row')).toHaveCount(2);
  expect(page.url()).toContain('q=KEYB');
  await page.keyboard.press('Escape');
  await expect(grid.getByRole('row')).toHaveCount(6);
  await page.getByLabel('Filter the lambdas').fill('nothing like it');
  await expect(page.getByRole('heading', { name: 'No lambdas match' })).toBeVisible();
  await page.getByRole('button', { name: 'Clear the query' }).click();
  await grid.focus();
  await page.keyboard.press('Home');
  await expect(page.getByRole('heading', { name: 'contact-form', level: 2 })).toBeVisible();
  await page.keyboard.press('End');
  await expect(page.getByRole('heading', { name: 'by-keyboard', level: 2 })).toBeVisible();

  await page.keyboard.press('ControlOrMeta+Enter');
  const console = consoleOf(page);
  await expect(console.getByRole('region', { name: 'Result' })).toContainText('Hello from by-keyboard');
  // Tab indents the code; after Escape, it moves the focus to the result of the run.
  await codeOf(page).focus();
  await page.keyboard.press('Escape');
  const link = console.getByRole('link', { name: 'Detail' });
  for (
    let count = 0;
    count < 20 && !(await link.evaluate((node) => node === node.ownerDocument.activeElement));
    count += 1
  )
    await page.keyboard.press('Tab');
  await expect(link).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Invocations', exact: true })).toBeVisible();
  await page.getByRole('tab', { name: 'Event' }).focus();
  const result = page.getByRole('tab', { name: 'Result' });
  while ((await result.getAttribute('aria-selected')) !== 'true') await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('tabpanel')).toContainText('Hello from by-keyboard');
});

test('the suggestions for a place stay open when the preselected place arrives late', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page);
  const heldRoutes: Route[] = [];
  await page.route(/\/meta\/[^?]*lambdas/, (route) => void heldRoutes.push(route));
  await platform.open(page, 'lambdas?new=web-form');
  await page.getByRole('combobox', { name: 'In', exact: true }).fill('integration');
  const suggestion = page.getByRole('option', { name: /^integration/ });
  await expect(suggestion).toBeVisible();
  expect(heldRoutes).not.toEqual([]);
  for (const route of heldRoutes) await route.continue();
  await expect(page.getByText('root / demo / website', { exact: true })).toBeVisible();
  await suggestion.click();
  await expect(page.getByRole('combobox', { name: 'In', exact: true })).toHaveValue('integration');
});

test('a name in use is rejected in its field', { tag: '@slow' }, async ({ page, platform }) => {
  const client = await lambdaClient(platform, page);
  const lambda = await client.make('taken', HELLO);
  await openLambda(platform, page, lambda);
  // A user who types and sends at once does not wait for the dialog's requests.
  let release = (): void => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\/providers/, async (route) => {
    await isReleased;
    await route.continue();
  });
  await page.getByRole('button', { name: 'New lambda' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('taken');
  await page.keyboard.press('Enter');
  release();
  await expect(dialog.getByRole('alert')).toContainText('taken');
  await dialog.getByLabel('Name').fill('web');
  await dialog.getByRole('button', { name: /Code template/ }).click();
  await page.getByRole('option', { name: 'Web form to CRM' }).click();
  await dialog.getByRole('button', { name: 'Create lambda' }).click();
  await expect(page.getByRole('heading', { name: 'web', exact: true })).toBeVisible();
  await page.getByLabel('First name').fill('Starter');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(consoleOf(page).getByRole('region', { name: 'Result' })).toContainText('SUCCESS');
  await consoleOf(page).getByRole('link', { name: 'See the lead' }).click();
  await page.getByRole('grid', { name: 'Leads' }).getByRole('row').nth(1).click();
  await expect(page.getByText('10 of 10 fields are mapped as expected')).toBeVisible();
});

test('axe finds no violation on any tab and dialog of a lambda, light and dark', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  const client = await lambdaClient(platform, page);
  const lambda = await client.make('looked-at', 'exports.run = () => {\n  nothing();\n};\n', { env: { A: '1' } });
  await reviewSaves(platform, page);
  await openLambda(platform, page, lambda);
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(page.locator('.cm-lintRange-error')).toBeVisible();
  await expectNoFaults(page);
  await codeOf(page).press('ControlOrMeta+f');
  await expect(page.getByRole('textbox', { name: 'Find', exact: true })).toBeFocused();
  await expectNoFaults(page);
  await write(page, codeOf(page), HELLO);
  await page.keyboard.press('ControlOrMeta+s');
  await expect(page.getByRole('dialog').locator('.cm-insertedLine').first()).toBeVisible();
  await expectNoFaults(page);
  await page.keyboard.press('Escape');
  await client.patch(lambda.id, {
    op: 'replace',
    path: '/properties/code',
    value: HELLO.replace('hello', 'theirs'),
  });
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page.getByRole('dialog').locator('.cm-insertedLine').first()).toBeVisible();
  await expectNoFaults(page);
  await page.keyboard.press('Escape');
  await page.getByRole('tab', { name: 'Environment' }).click();
  await page.getByRole('button', { name: 'Change A' }).click();
  await page.getByLabel('Name of a new variable').fill('9');
  await client.patch(lambda.id, { op: 'replace', path: '/properties/env/A', value: '3' });
  await expect(page.getByRole('table').getByRole('alert')).toBeVisible();
  await expectNoFaults(page);
  await page.getByRole('tab', { name: 'Debug' }).click();
  await page.getByRole('button', { name: 'Start debugging' }).click();
  await expect(page.getByText('waiting for a debugger')).toBeVisible();
  await expectNoFaults(page);
  await page.getByRole('button', { name: 'Stop debugging' }).click();
  await page.getByRole('button', { name: 'New lambda' }).click();
  await expectNoFaults(page);
  await page.keyboard.press('Escape');
  await client.remove(lambda.id);
  await expect(page.getByRole('heading', { name: 'looked-at was deleted or moved' })).toBeVisible();
  await expectNoFaults(page);
  await openLambda(platform, page, await client.find('contact-form'), 'endpoints');
  await expect(page.getByText('60 a minute')).toBeVisible();
  await expectNoFaults(page);
});
