import { beginTask } from './clicks.ts';
import { expect, type Page, test } from './window.ts';

const rail = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name });

test('what a newcomer makes takes few clicks: a form of their own', async ({ page, platform }) => {
  await platform.open(page);
  const ownForm = await beginTask(page, 'an own form from scratch, until its lead');
  await rail(page, 'Lambdas').click();
  await page.getByRole('button', { name: 'New lambda' }).click();
  const dialog = page.getByRole('dialog', { name: 'New lambda' });
  await page.keyboard.type('Newsletter form');
  await dialog.getByRole('button', { name: /Begin with/ }).click();
  await page.getByRole('option', { name: 'Web form to CRM' }).click();
  await expect(dialog.getByLabel('Public path')).toHaveValue('/Newsletter-form');
  await dialog.getByRole('button', { name: 'Create lambda' }).click();
  await page.getByRole('button', { name: 'Send a request' }).click();
  const request = page.getByRole('dialog', { name: 'Send a request' });
  await request.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(request.getByRole('region', { name: 'Answer' })).toContainText('SUCCESS');
  await request.getByRole('link', { name: 'Open its lead' }).click();
  await expect(page.getByRole('region', { name: 'Lead', exact: true })).toContainText('Ada Lovelace');
  await ownForm();
});

test('a colleague comes with few clicks, works at once, gets another role with others, and is told when it goes', async ({
  page,
  platform,
  browser,
}) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await platform.open(page);
  const colleague = await beginTask(page, 'a colleague with a workspace and rights');
  await rail(page, 'Resources').click();
  await page.getByRole('treeitem', { name: /^demo/ }).click();
  await page.getByRole('region', { name: 'Resource' }).getByRole('button', { name: 'New', exact: true }).click();
  await page.getByRole('menuitem', { name: 'New colleague' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('User name')).toBeFocused();
  await page.keyboard.type('grace');
  const password = await dialog.getByLabel('Password').inputValue();
  await dialog.getByRole('button', { name: 'Create colleague' }).click();
  await dialog.getByRole('button', { name: 'Copy what to tell them' }).click();
  await colleague();
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(
    new RegExp(`/ui/\nUser name: grace\nPassword: ${password}$`),
  );
  await page.keyboard.press('Escape');

  // Hers begins with what she may see, and she can make something there at once.
  const hers = await (await browser.newContext()).newPage();
  await hers.goto(`${platform.windowOrigin}/ui/resources`);
  await hers.getByLabel('User name').fill('grace');
  await hers.getByLabel('Password').fill(password);
  await hers.keyboard.press('Enter');
  await expect(hers.getByRole('treeitem')).toHaveText([/^grace.*workspace/, /^development/, /^grace.*user/]);
  await rail(hers, 'Lambdas').click();
  await hers.getByRole('button', { name: 'New lambda' }).first().click();
  await hers.keyboard.type('hello');
  await expect(hers.getByRole('dialog').getByRole('combobox', { name: 'In' })).toHaveValue('development');
  await hers.keyboard.press('Enter');
  await expect(hers.getByRole('heading', { name: 'hello', level: 2 })).toBeVisible();

  await page.getByRole('treeitem', { name: /^grace.*workspace/ }).click();
  const roles = await beginTask(page, 'a role for several people');
  await page.getByRole('tab', { name: 'Rights' }).click();
  await page.getByRole('button', { name: 'Roles', exact: true }).click();
  const people = dialog.getByRole('list', { name: 'Users and groups' });
  const person = (name: string) => people.getByRole('listitem').filter({ hasText: name });
  const give = async (role: string, names: readonly string[]) => {
    for (const name of names) await person(name).locator('label').click();
    await dialog.getByRole('button', { name: /Role$/ }).click();
    await page.getByRole('option', { name: role }).click();
    await dialog.getByRole('button', { name: `Give it to ${names.length}` }).click();
  };
  await expect(person('grace')).toContainText('developer');
  await give('Same as grace', ['milo.tanaka', 'ci-service']);
  await expect(person('milo.tanaka')).toContainText('developer');
  await expect(person('ci-service')).toContainText('developer');
  await roles();

  // She is in the middle of something when her role goes, and comes back.
  await rail(hers, 'Resources').click();
  await hers.getByRole('treeitem', { name: /^development/ }).click();
  await hers.getByRole('tab', { name: 'Form' }).click();
  const description = hers.getByLabel('description');
  await description.fill('half a sentence');
  const answers: number[] = [];
  hers.on('response', (response) => answers.push(response.status()));
  await give('None', ['grace']);
  await expect(person('grace')).toContainText('no rights here');
  const taken = hers.getByRole('status').filter({ hasText: 'Somebody has taken your right to see development' });
  await expect(taken).toContainText('environment.view');
  await expect(description).toHaveValue('half a sentence');
  // One refusal for each thing that is shown, and no asking without end.
  expect(answers.filter((status) => status === 403).length).toBeLessThan(10);
  await give('Viewer', ['grace']);
  await expect(taken).toBeHidden();
  await expect(description).toHaveValue('half a sentence');
});
