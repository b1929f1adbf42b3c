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
