import { lineOf, paneOf, tabOf, treeOf, windowClient } from './resources-window.ts';
import { expect, test } from './window.ts';

test('the tree is opened, closed and filtered by mouse, follows the keyboard pattern of trees, and is in the address', async ({
  page,
  platform,
}) => {
  await platform.open(page, 'resources');
  const root = lineOf(page, 'root organization 11');
  await expect(root).toHaveAttribute('aria-level', '1');
  await expect(root).toHaveAttribute('aria-selected', 'true');
  const website = treeOf(page).getByRole('treeitem', { name: /^website workspace/ });
  await expect(website).toHaveAttribute('aria-expanded', 'true');
  await website.locator('span').first().click();
  await expect(website).toHaveAttribute('aria-expanded', 'false');
  await expect(lineOf(page, 'contact-form lambda')).toBeHidden();
  await website.locator('span').first().click();
  await lineOf(page, 'contact-form lambda').click();
  await expect(paneOf(page).getByRole('heading', { name: 'contact-form' })).toBeVisible();
  await expect(page).toHaveURL(/\/ui\/resources\/[0-9a-f-]{36}$/);

  await page.getByRole('searchbox', { name: 'Filter the tree' }).fill('order');
  await expect(lineOf(page, 'contact-form lambda')).toBeHidden();
  await expect(lineOf(page, 'order-status lambda')).toBeVisible();
  await expect(page).toHaveURL(/[?&]q=order/);
  await page.reload();
  await expect(lineOf(page, 'order-status lambda')).toBeVisible();
  await expect(lineOf(page, 'contact-form lambda')).toBeHidden();
  await expect(paneOf(page).getByRole('heading', { name: 'contact-form' })).toBeVisible();
  await page.getByRole('searchbox', { name: 'Filter the tree' }).fill('no such thing');
  await expect(page.getByText('No resource has that name.')).toBeVisible();
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await expect(lineOf(page, 'contact-form lambda')).toBeVisible();

  await platform.open(page, 'resources');
  const active = () =>
    page.evaluate<string>(
      `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent`,
    );
  await treeOf(page).focus();
  await page.keyboard.press('Home');
  await expect.poll(active).toMatch(/^root/);
  await page.keyboard.press('ArrowDown');
  await expect.poll(active).toMatch(/^demo/);
  await page.keyboard.press('ArrowLeft');
  await expect(treeOf(page).getByRole('treeitem', { name: /^demo/ })).toHaveAttribute('aria-expanded', 'false');
  await page.keyboard.press('ArrowLeft');
  await expect.poll(active).toMatch(/^root/);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(treeOf(page).getByRole('treeitem', { name: /^demo/ })).toHaveAttribute('aria-expanded', 'true');
  await page.keyboard.press('ArrowRight');
  await expect.poll(active).toMatch(/^delivery/);
  await page.keyboard.press('Enter');
  await expect(paneOf(page).getByRole('heading', { name: 'delivery' })).toBeVisible();
  await page.keyboard.press('End');
  await expect.poll(active).toMatch(/^Users/);
  await page.keyboard.press('Enter');
  await expect(lineOf(page, 'ada.byrne user')).toBeVisible();

  // A key opens the filter, and Esc discards the input.
  await page.keyboard.press('/');
  await page.keyboard.type('deploy');
  await expect(lineOf(page, 'deploy lambda')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('searchbox', { name: 'Filter the tree' })).toHaveValue('');
});

test('the content of a resource is a table, and the address names the selected row and the parent of a new resource', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await platform.open(page);
  const { id } = await windowClient(platform, page).find('environments', 'integration');
  await platform.open(page, `resources/${id}`);
  const table = paneOf(page).getByRole('grid', { name: 'Inside' });
  await expect(table.getByRole('row', { name: /deploy.*lambda/ })).toBeVisible();
  await table.getByRole('row', { name: /^ci/ }).getByRole('gridcell').first().click();
  await expect(page).toHaveURL(/sel=[0-9a-f-]{36}/);
  await page.reload();
  await expect(table.getByRole('row', { name: /^ci/ })).toHaveAttribute('aria-selected', 'true');
  await table.focus();
  await page.keyboard.press('Enter');
  await expect(paneOf(page).getByRole('heading', { name: 'ci', exact: true })).toBeVisible();
  await expect(paneOf(page).getByRole('grid', { name: 'Inside' })).toContainText('endpoint');

  await platform.open(page, `resources/${id}?new=lambda`);
  await expect(page.getByRole('dialog').or(page.getByRole('alertdialog'))).toHaveCount(0);
  await platform.open(page, `resources/${id}?new=lambdas`);
  await expect(page.getByRole('combobox', { name: 'in' })).toHaveValue('integration');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page).not.toHaveURL(/new=/);
});

test('each tab has an address that a reload restores', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  const { id } = await windowClient(platform, page).find('lambdas', 'order-status');
  await platform.open(page, `resources/${id}`);
  for (const [title, tabName] of [
    ['JSON', 'json'],
    ['Calls', 'calls'],
    ['History', 'history'],
    ['Relations', 'relations'],
    ['Permissions', 'rights'],
  ] as const) {
    await tabOf(page, title).click();
    await expect(page).toHaveURL(new RegExp(`tab=${tabName}`));
  }
  await page.reload();
  await expect(tabOf(page, 'Permissions')).toHaveAttribute('aria-selected', 'true');
  // An unknown tab in the address opens the first tab.
  await page.goto(page.url().replace('tab=rights', 'tab=nonsense'));
  await expect(tabOf(page, 'Form')).toHaveAttribute('aria-selected', 'true');
});
