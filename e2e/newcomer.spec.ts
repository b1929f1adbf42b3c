import { WEB_FORM } from '../server/model/web-form.ts';
import { beginTask } from './clicks.ts';
import { lambdaClient } from './lambda-client.ts';
import { expect, type Page, test } from './window.ts';

const sidebar = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name });

test('a new user creates their own form in few clicks', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  const ownFormTask = await beginTask(page, 'an own form from scratch, until its lead');
  await sidebar(page, 'Lambdas').click();
  await page.getByRole('button', { name: 'New lambda' }).click();
  const dialog = page.getByRole('dialog', { name: 'New lambda' });
  await page.keyboard.type('Newsletter form');
  await dialog.getByRole('button', { name: /Code template/ }).click();
  await page.getByRole('option', { name: 'Web form to CRM' }).click();
  await expect(dialog.getByLabel('Public path')).toHaveValue('/Newsletter-form');
  await dialog.getByRole('button', { name: 'Create lambda' }).click();
  await page.getByRole('button', { name: 'Send a request' }).click();
  const request = page.getByRole('dialog', { name: 'Send a request' });
  await request.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(request.getByRole('region', { name: 'Response' })).toContainText('SUCCESS');
  await request.getByRole('link', { name: 'Open its lead' }).click();
  await expect(page.getByRole('region', { name: 'Lead', exact: true })).toContainText('Ada Lovelace');
  await ownFormTask();
});

/** The steps of `In the window` of docs/get-started/quick-start.md. */
test('a new user breaks the contact form by a variable, sees why its lead is missing, and undoes the change', async ({
  page,
  platform,
}) => {
  await platform.open(page);
  const home = page.getByRole('article').filter({ hasText: 'A web form in 60 seconds' });
  await home.getByRole('button', { name: 'Send the form' }).click();
  await home.getByRole('link', { name: '1 in the inbox' }).click();
  const leads = page.getByRole('grid', { name: 'Leads' }).getByRole('row').filter({ hasText: 'Lovelace' });
  await leads.click();
  await expect(page.getByRole('region', { name: 'Lead', exact: true })).toContainText('Ada Lovelace');
  await sidebar(page, 'Invocations').click();
  await page.getByRole('grid', { name: 'Invocations' }).getByRole('row').filter({ hasText: 'contact-form' }).click();
  await page.getByRole('tab', { name: /^Outbound \d/ }).click();
  await expect(page.getByRole('main')).toContainText('crm.example.com');

  await page.keyboard.press('ControlOrMeta+k');
  const palette = page.getByRole('dialog', { name: 'Commands and resources' });
  await page.keyboard.type('contact-form');
  await expect(palette.getByRole('option').first()).toHaveText('Open contact-form');
  await page.keyboard.press('Enter');
  await page.getByRole('tab', { name: 'Environment' }).click();
  await page.getByRole('button', { name: 'Remove CRM_OID' }).click();
  await page.getByRole('button', { name: 'Save variables' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText('contact-form was saved.')).toBeVisible();

  await sidebar(page, 'Home').click();
  await home.getByRole('button', { name: 'Send again' }).click();
  await expect(home.getByRole('alert')).toContainText(
    /did not become a lead: the response was 200, but the CRM rejected it \(.*'oid'/,
  );
  await sidebar(page, 'Leads').click();
  await expect(leads).toHaveCount(2);
  await leads.filter({ hasText: 'rejected' }).click();
  await expect(page.getByRole('region', { name: 'Lead', exact: true })).toContainText("the form has no 'oid'");

  await sidebar(page, 'History').click();
  await page.getByRole('grid', { name: 'Commits' }).getByRole('row').nth(1).click();
  await page.getByRole('button', { name: 'Revert this commit' }).click();
  await expect(page.getByText(/^Commit \d+ was undone/)).toBeVisible();
  await sidebar(page, 'Home').click();
  await home.getByRole('button', { name: 'Send again' }).click();
  await expect(home.getByRole('link', { name: '2 in the inbox' })).toBeVisible();
});

test('a user is invited in few clicks, works at once, gets another role, and sees when it is removed', {
  tag: '@slow',
}, async ({ page, platform, browser }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await platform.open(page);
  const colleague = await beginTask(page, 'a colleague with a workspace and rights');
  await page.getByRole('button', { name: 'Signed in as root' }).click();
  await page.getByRole('menuitem', { name: 'Invite a user' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('User name')).toBeFocused();
  await page.keyboard.type('grace');
  const password = await dialog.getByLabel('Password').inputValue();
  await page.keyboard.press('Enter');
  await expect(dialog).toContainText('This address works on this machine only');
  await dialog.getByRole('button', { name: 'Copy sign-in details' }).click();
  await colleague();
  await expect
    .poll(() => page.evaluate<string>('navigator.clipboard.readText()'))
    .toMatch(new RegExp(`/ui/\nUser name: grace\nPassword: ${password}$`));
  await page.keyboard.press('Escape');

  // The user's tree starts with the resources that the user can view and create something in.
  const otherPage = await (await browser.newContext()).newPage();
  await otherPage.goto(`${platform.windowOrigin}/ui/resources`);
  await otherPage.getByLabel('User name').fill('grace');
  await otherPage.getByLabel('Password').fill(password);
  await otherPage.keyboard.press('Enter');
  await expect(otherPage.getByRole('treeitem')).toHaveText([/^grace.*workspace/, /^development/, /^grace.*user/]);
  await sidebar(otherPage, 'Lambdas').click();
  await otherPage.getByRole('button', { name: 'New lambda' }).first().click();
  await otherPage.keyboard.type('hello');
  await expect(otherPage.getByRole('dialog').getByRole('combobox', { name: 'In' })).toHaveValue('development');
  await otherPage.keyboard.press('Enter');
  await expect(otherPage.getByText('hello was created.')).toBeVisible();
  await expect(otherPage.getByRole('heading', { name: 'hello', level: 2 })).toBeVisible();
  await expect(otherPage.getByRole('button', { name: 'Undo', exact: true })).toBeHidden();

  await page.getByRole('treeitem', { name: /^grace.*workspace/ }).click();
  const roles = await beginTask(page, 'a role for several people');
  await page.getByRole('tab', { name: 'Permissions' }).click();
  await page.getByRole('button', { name: 'Roles', exact: true }).click();
  const people = dialog.getByRole('list', { name: 'Users and groups' });
  const person = (name: string) => people.getByRole('listitem').filter({ hasText: name });
  const assignRole = async (role: string, names: readonly string[]) => {
    for (const name of names) await person(name).locator('label').click();
    await dialog.getByRole('button', { name: /Role$/ }).click();
    await page.getByRole('option', { name: role }).click();
    await dialog.getByRole('button', { name: `Give role to ${names.length}` }).click();
  };
  await expect(person('grace')).toContainText('developer');
  await assignRole('Same as grace', ['milo.tanaka', 'ci-service']);
  await expect(person('milo.tanaka')).toContainText('developer');
  await expect(person('ci-service')).toContainText('developer');
  await roles();

  // The user's role is removed and restored during an edit.
  await sidebar(otherPage, 'Resources').click();
  await otherPage.getByRole('treeitem', { name: /^development/ }).click();
  await otherPage.getByRole('tab', { name: 'Form' }).click();
  const description = otherPage.getByLabel('description');
  await description.fill('half a sentence');
  const answers: number[] = [];
  otherPage.on('response', (response) => answers.push(response.status()));
  await assignRole('None', ['grace']);
  await expect(person('grace')).toContainText('no permissions here');
  const revokedNotice = otherPage
    .getByRole('status')
    .filter({ hasText: 'You no longer have permission to view development' });
  await expect(revokedNotice).toContainText('environment.view');
  await expect(description).toHaveValue('half a sentence');
  // One rejected request for each part of the screen, and no endless retries.
  expect(answers.filter((status) => status === 403).length).toBeLessThan(10);
  await assignRole('Viewer', ['grace']);
  await expect(revokedNotice).toBeHidden();
  await expect(description).toHaveValue('half a sentence');
});

test('failures are found and fixed in few clicks: a missing lead, a change, a call, a pipeline', {
  tag: '@slow',
}, async ({ page, platform }) => {
  const client = await lambdaClient(platform, page);
  const form = await client.find('contact-form');
  const send = async () => expect((await platform.call('/website/lead', WEB_FORM)).status).toBe(200);
  await send();
  await client.patch(form.id, { op: 'remove', path: '/properties/env/CRM_OID' });
  await send();
  await send();
  const story = await beginTask(page, 'a missing lead is explained, and brought back');
  const failing = page.getByRole('region', { name: 'Failing' });
  await expect(failing).toContainText(/the CRM rejected this form: the form has no 'oid'.*root removed CRM_OID/);
  await failing.getByRole('button', { name: 'Undo it, and replay the 2 undelivered forms' }).click();
  await page.getByRole('link', { name: '3 in the inbox' }).click();
  await expect(page.getByRole('grid', { name: 'Leads' }).getByRole('row').filter({ hasText: 'Ada' })).toHaveCount(5);
  await story();

  await client.patch(form.id, { op: 'replace', path: '/properties/env/CRM_PATH', value: '/wrong' });
  const endTask = await beginTask(page, 'who changed what');
  const commits = page.getByRole('grid', { name: 'Commits' }).getByRole('row');
  await sidebar(page, 'History').click();
  await commits.nth(1).click();
  const main = page.getByRole('main');
  await expect(main).toContainText(/root changed contact-form/);
  await expect(main).toContainText('CRM_PATH');
  await endTask();

  await sidebar(page, 'Home').click();
  const undo = await beginTask(page, 'a wrong change is undone');
  await sidebar(page, 'History').click();
  await commits.nth(1).click();
  await page.getByRole('button', { name: 'Revert this commit' }).click();
  await expect(page.getByText(/^Commit \d+ was undone/)).toBeVisible();
  await undo();
  await expect.poll(async () => (await client.find('contact-form')).properties.env?.CRM_PATH).not.toBe('/wrong');

  const replay = await beginTask(page, 'an invocation is replayed after a fix');
  await sidebar(page, 'Invocations').click();
  await page.getByRole('grid', { name: 'Invocations' }).getByRole('row').nth(3).click();
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await expect(page.getByText('contact-form was replayed: ok.')).toBeVisible();
  await replay();

  const rule = await beginTask(page, 'a rule that catches what goes to a host');
  await sidebar(page, 'Leads').click();
  await page.getByRole('tab', { name: /^Outbound rules/ }).click();
  await page.getByRole('button', { name: 'Add a rule' }).click();
  await expect(page.getByLabel('Calls to')).toBeFocused();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('billing.example');
  await page.getByRole('button', { name: /Effect/ }).click();
  await page.getByRole('option', { name: 'Catch' }).click();
  await page.getByLabel('Calls to').press('Enter');
  await expect(page.getByRole('list', { name: 'Outbound rules that are on' })).toContainText('billing.example');
  await rule();

  const [ci] = (await client.send('GET', '/meta/root/users?name=ci-service')) as [{ id: string }]; // as the API document says
  await client.remove(ci.id);
  const pipeline = await beginTask(page, 'why a pipeline fails');
  await sidebar(page, 'Pipelines').click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(main.getByRole('alert')).toContainText("user 'ci-service' does not exist");
  await pipeline();
});
