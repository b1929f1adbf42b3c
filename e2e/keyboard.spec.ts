import { beginTask } from './clicks.ts';
import { codeOf, consoleOf, openLambda, workshopIn } from './lambda-workshop.ts';
import { expect, test } from './window.ts';

test('code is saved without the mouse: Ctrl S shows what changes, Ctrl S once more saves it', async ({
  page,
  platform,
}) => {
  const workshop = await workshopIn(platform, page);
  const lambda = await workshop.find('contact-form');
  await openLambda(platform, page, lambda);
  const byKeys = await beginTask(page, 'code is edited, saved and run by keys');
  await codeOf(page).focus();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText('// by hand');
  await expect(page.getByRole('tab', { name: 'Code (changed)' })).toBeVisible();
  await page.keyboard.press('ControlOrMeta+s');
  const dialog = page.getByRole('dialog', { name: 'Save the code of contact-form' });
  await expect(dialog.getByRole('button', { name: 'Save' })).toBeFocused();
  expect((await workshop.find('contact-form')).properties.code).toBe(lambda.properties.code);
  await page.keyboard.press('ControlOrMeta+s');
  await expect(dialog).toBeHidden();
  await expect(page.getByRole('tab', { name: 'Code', exact: true })).toBeVisible();
  expect((await workshop.find('contact-form')).properties.code).not.toBe(lambda.properties.code);
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(consoleOf(page).getByRole('region', { name: 'Result' })).toContainText('SUCCESS');
  await byKeys();
});

test('a resource is made without the mouse: its name has the focus, Enter creates it, Esc closes', async ({
  page,
  platform,
}) => {
  await platform.open(page);
  const found = await platform.ask(page, 'GET', '/meta/demo');
  const { id } = found.body as { id: string }; // as the API document says
  await platform.open(page, `resources/${id}?new=workspaces`);
  const name = page.getByRole('dialog').or(page.getByRole('alertdialog')).getByRole('textbox').first();
  await expect(name).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('heading', { name: /^New/ })).toBeHidden();

  await platform.open(page, `resources/${id}?new=workspaces`);
  await expect(name).toBeFocused();
  await page.keyboard.type('by-hand');
  await page.keyboard.press('Enter');
  await expect(page.getByText('by-hand was created.')).toBeVisible();
});
