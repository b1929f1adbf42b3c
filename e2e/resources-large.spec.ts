import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { growWorld } from './large-world.ts';
import { PlatformProcess } from './platform-process.ts';
import { paneOf, treeOf } from './resources-window.ts';
import { expect, test } from './window.ts';

const SIZE = 10_000;
const CROWDED_COUNT = 5_000;

test('a world of 10,000 resources has a tree, a filter and a table of 5,000 rows that are read a page at a time', {
  tag: '@slow',
}, async ({ page }) => {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-large-'));
  const platform = new PlatformProcess(folder, ['--containers-engine', 'none']);
  try {
    await platform.start();
    await platform.end('SIGTERM');
    await growWorld(platform.dataDir, SIZE, CROWDED_COUNT);
    await platform.start();
    await platform.open(page);
    let largestAnswer = 0;
    page.on('response', async (response) => {
      const length = Number(response.headers()['content-length'] ?? 0);
      if (response.url().includes('/inspect/tree')) largestAnswer = Math.max(largestAnswer, length);
    });

    await platform.open(page, 'resources');
    await expect(page.getByText(/^10,0\d\d in all$/)).toBeVisible();
    await expect(treeOf(page).getByRole('treeitem', { name: /^org-0 organization/ })).toBeVisible();
    await page.getByRole('searchbox', { name: 'Filter the tree' }).fill('lambda-4999');
    const matchingItem = treeOf(page).getByRole('treeitem', { name: 'lambda-4999 lambda' });
    await expect(matchingItem).toHaveCount(1);
    await matchingItem.click();
    await expect(paneOf(page).getByRole('heading', { name: 'lambda-4999' })).toBeVisible();

    // Without the filter it is visible as well, although not all of its siblings have been read.
    await page.getByRole('searchbox', { name: 'Filter the tree' }).fill('');
    await expect(treeOf(page).getByRole('treeitem', { name: 'lambda-4998 lambda' })).toHaveCount(0);
    await expect(treeOf(page).getByRole('treeitem', { name: 'lambda-0 lambda' })).toBeVisible();
    await expect(matchingItem).toHaveAttribute('aria-selected', 'true');
    await paneOf(page).getByRole('link', { name: 'crowded' }).click();
    const table = paneOf(page).getByRole('grid', { name: 'Inside' });
    await expect(table).toHaveAttribute('aria-rowcount', String(CROWDED_COUNT + 1));
    await table.focus();
    await page.keyboard.press('End');
    const last = table.getByRole('row').last();
    await expect(last).toHaveAttribute('aria-selected', 'true');
    await expect(last).toContainText('lambda');
    await expect(page).toHaveURL(/sel=[0-9a-f-]{36}/);
    await page.keyboard.press('Enter');
    await expect(paneOf(page).getByRole('heading', { name: /^lambda-\d+$/ })).toBeVisible();
    expect(largestAnswer).toBeLessThan(200_000);

    await page.goBack();
    await paneOf(page).getByRole('button', { name: 'Delete' }).click();
    await expect(page.getByRole('alertdialog')).toContainText('5,000 lambdas');
    await expect(page.getByRole('alertdialog')).toContainText('and 4,900 more');
  } finally {
    await platform.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  }
});
