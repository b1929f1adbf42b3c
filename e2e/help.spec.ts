import { expectNoFaults } from './axe.ts';
import { expect, test } from './window.ts';

test('Help opens the page about a screen, finds decisions by number and by words, and follows links', async ({
  page,
  platform,
}) => {
  await platform.open(page, 'containers');
  await page.getByRole('link', { name: 'Help on Containers' }).click();
  await expect(page.getByRole('article', { name: 'Containers' })).toContainText('Change a running container');
  await expectNoFaults(page, 'a page');

  const search = page.getByRole('searchbox', { name: 'Search the documentation' });
  await search.fill('rate limit counts all');
  const found = page.getByRole('region', { name: 'Emulator behavior' });
  await found.getByRole('link', { name: 'D-155' }).click();
  const currentDecision = page.locator('[aria-current=true]').filter({ hasText: 'D-155' });
  await expect(currentDecision).toBeInViewport();
  await expectNoFaults(page, 'a decision');
  await search.fill('xylophone');
  await page.getByRole('button', { name: 'Clear the query' }).click();

  await platform.open(page, 'help/D-213');
  await expect(page.locator('[aria-current=true]').filter({ hasText: 'D-213' })).toBeInViewport();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Supported features' }).click();
  await expect(page.getByRole('article', { name: 'Supported features' })).toBeVisible();
  await platform.open(page, 'help/d-999');
  await expect(page.getByText(/^D-9{3} is not on this page\.$/)).toBeVisible();
  await platform.open(page, 'help/nothing');
  await expect(page.getByRole('heading', { name: 'Page nothing not found' })).toBeVisible();
});

test('an error that cites a decision leads to its entry', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page, 'leads');
  await page.route('**/inspect/forms**', (route) =>
    route.fulfill({ status: 501, json: { code: 501, message: 'jobs are not emulated (D-210)' } }),
  );
  await platform.load(page, 'leads');
  await expect(page.getByRole('alert').getByRole('link', { name: 'D-210' })).toHaveAttribute('href', '/ui/help/D-210');
});
