import { growInvocations } from './long-past.ts';
import { expect, test } from './window.ts';

const INVOCATIONS = 50_000;
/** More rows than are visible, far fewer than exist. */
const MOST_DRAWN = 120;

test(`${INVOCATIONS} invocations scroll to the end of the list`, { tag: '@slow' }, async ({ page, platform }) => {
  await platform.call('/website/orders/oldest-one');
  await platform.end('SIGTERM');
  await growInvocations(platform.dataDir, 'order-status', '/1001', INVOCATIONS - 1);
  await platform.start();

  await platform.open(page, 'invocations');
  const grid = page.getByRole('grid', { name: 'Invocations' });
  await expect(page.getByRole('status').filter({ hasText: '50,000' })).toBeVisible();
  await expect(grid.getByRole('row').nth(1)).toContainText('order-status');

  // The oldest is found without loading the rows in between.
  await page.getByLabel('Query of invocations').fill('oldest-one');
  await expect(grid.getByRole('row')).toHaveCount(2);
  const oldest = await grid.getByRole('row').nth(1).getAttribute('aria-rowindex');
  expect(oldest).toBe('2');
  await page.getByRole('button', { name: 'Clear the query' }).click();

  // It is also at the end of the list, for users who scroll that far.
  await grid.focus();
  await expect(async () => {
    await page.keyboard.press('End');
    await expect(grid).toHaveAttribute('aria-rowcount', String(INVOCATIONS + 1), { timeout: 200 });
  }).toPass({ timeout: 120_000, intervals: [50] });
  await page.keyboard.press('End');
  await expect(page.getByText('oldest-one').first()).toBeVisible();
  expect(await grid.getByRole('row').count()).toBeLessThan(MOST_DRAWN);

  // New entries are added at the top without moving the visible ones.
  await platform.call('/website/orders/newest-one');
  await expect(page.getByText('oldest-one').first()).toBeVisible();
  await page.keyboard.press('Home');
  await expect(grid.getByRole('row').nth(1)).toContainText('newest-one');
});
