import { expectNoFaults, waitUntilStill } from './axe.ts';
import {
  commitDescriptions,
  commits,
  descriptionOf,
  moment,
  type Named,
  newestOf,
  send,
  slider,
  timeLine,
} from './history-window.ts';
import { growHistory } from './long-past.ts';
import { expect, test } from './window.ts';

test('a past world is opened by mouse and by keyboard, shown, and restored', async ({ page, platform }) => {
  await platform.open(page);
  const lambda = await commitDescriptions(platform, page, 10);
  const organization = await send<Named>(platform, page, 'POST', '/meta/root', { name: 'acme' });
  await platform.open(page, 'history');
  const newest = await newestOf(platform, page);
  await expect(timeLine(page)).toContainText(`${newest} commits`);
  await expect(timeLine(page)).toContainText('Now');

  // By mouse.
  const box = await slider(page).boundingBox();
  if (!box) throw new Error('there is no time line');
  await page.mouse.move(box.x + box.width - 8, box.y + box.height / 2);
  await page.mouse.down();
  for (let step = 1; step <= 8; step += 1) {
    await page.mouse.move(box.x + box.width - 8 - (step / 8) * (box.width / 2), box.y + box.height / 2);
  }
  await page.mouse.up();
  // The address follows the slider, a little later.
  const at = Number(await slider(page).inputValue());
  expect(Math.abs(at - newest / 2)).toBeLessThan(2);
  await expect(page).toHaveURL(new RegExp(`sel=${at}(&|$)`));
  await expect(slider(page)).toHaveValue(String(at));
  await expect(moment(page).getByRole('heading', { name: `Commit ${at}`, exact: true })).toBeVisible();

  // By keyboard: back to commit 5, with version 3.
  await slider(page).focus();
  for (let seq = at; seq > 5; seq -= 1) await page.keyboard.press('ArrowLeft');
  await expect(page).toHaveURL(/sel=5(&|$)/);
  await page.keyboard.press('ArrowRight');
  await expect(page).toHaveURL(/sel=6(&|$)/);
  await page.getByRole('button', { name: 'Previous commit' }).click();
  await expect(page).toHaveURL(/sel=5(&|$)/);
  await expect(slider(page)).toHaveAttribute('aria-valuetext', /after commit 5, root changed /);

  await moment(page).getByRole('tab', { name: 'World at this point' }).click();
  await moment(page).getByRole('searchbox').fill(lambda.name);
  await expect(moment(page).getByRole('grid').getByRole('row')).toHaveCount(2);
  await moment(page).getByRole('grid').getByRole('row').nth(1).click();
  await expect(page.getByRole('region', { name: 'Record then' })).toContainText('"version 3"');
  await moment(page).getByRole('searchbox').fill('acme');
  await expect(page.getByText('No resources then match')).toBeVisible();

  await moment(page).getByRole('tab', { name: 'Since then' }).click();
  await expect(moment(page)).toContainText('1 added, 1 changed');
  await moment(page)
    .getByRole('button', { name: new RegExp(lambda.name) })
    .click();
  const patch = page.getByRole('dialog');
  await expect(patch).toContainText('version 10');
  await expect(patch.locator('.cm-content').first()).toContainText('version 3');
  await patch.getByRole('button', { name: 'Close', exact: true }).last().click();

  await moment(page).getByRole('button', { name: 'Go back to this moment' }).click();
  const dialog = page.getByRole('alertdialog');
  await expect(dialog).toContainText('1 will be deleted, 1 will be reverted');
  await dialog.getByRole('button', { name: 'Delete 1 resource, restore 1' }).click();
  await expect(page.getByText(/The world was restored to its state after commit 5\./)).toBeVisible();
  await expect.poll(() => descriptionOf(platform, page, lambda)).toBe('version 3');
  expect((await platform.send(page, 'GET', `/meta/root/resources/${organization.id}`)).status).toBe(404);

  await page.getByRole('button', { name: 'Undo' }).first().click();
  await expect(page.getByText(/was undone/)).toBeVisible();
  await expect.poll(() => descriptionOf(platform, page, lambda)).toBe('version 10');
  expect((await platform.send(page, 'GET', `/meta/root/resources/${organization.id}`)).status).toBe(200);
});

test('a commit that conflicts with a later one is not undone, and the reason is shown', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page);
  const lambda = await commitDescriptions(platform, page, 3);
  await platform.open(page, 'history?sel=4');
  await moment(page).getByRole('button', { name: 'Revert this commit' }).click();
  await expect(moment(page).getByRole('alert')).toContainText(/description/);
  await expect.poll(() => descriptionOf(platform, page, lambda)).toBe('version 3');
  await platform.open(page, 'history?sel=5');
  await moment(page).getByRole('button', { name: 'Revert this commit' }).click();
  await expect(page.getByText('Commit 5 was undone.')).toBeVisible();
  await expect.poll(() => descriptionOf(platform, page, lambda)).toBe('version 2');
});

test('a named snapshot is saved, compared, restored and deleted', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  const lambda = await commitDescriptions(platform, page, 2);
  await platform.open(page, 'history');
  await page.getByRole('button', { name: 'Snapshots' }).click();
  const dialog = page.getByRole('dialog', { name: 'Snapshots' });
  const name = dialog.getByRole('textbox');
  await name.fill('Not A Name!');
  await dialog.getByRole('button', { name: 'Save snapshot' }).click();
  await expect(dialog).toContainText(/lower-case/i);
  await name.fill('before');
  await name.press('Enter');
  await expect(dialog.getByRole('listitem').filter({ hasText: 'before' })).toContainText('commit 4');
  // The field is cleared by the response, which may arrive after the event that updates the list.
  await expect(name).toHaveValue('');
  await name.fill('before');
  await name.press('Enter');
  await expect(dialog).toContainText(/already|taken|exists/);
  await page.keyboard.press('Escape');
  await expect(page).not.toHaveURL(/dialog=/);

  await commitDescriptions(platform, page, 5);
  await expect(timeLine(page)).toContainText(`${await newestOf(platform, page)} commits`);
  await timeLine(page).getByRole('button', { name: 'Snapshot before' }).click();
  await expect(page).toHaveURL(/sel=4(&|$)/);
  await page.getByRole('button', { name: 'Snapshots', exact: true }).click();
  await dialog.getByRole('button', { name: 'Compare' }).click();
  const compared = page.getByRole('dialog', { name: /and now/ });
  await expect(compared).toContainText('1 changed');
  await compared.getByRole('button', { name: new RegExp(lambda.name) }).click();
  await expect(page.getByRole('dialog', { name: /^Patch of/ })).toContainText('version 5');
  // Without waiting in between.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog', { name: /^Patch of/ })).toBeHidden();
  await expect(compared).toBeHidden();
  await dialog.getByRole('button', { name: 'Restore' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Restore 1 resource' }).click();
  await expect(page.getByText(/as it was of snapshot before|snapshot before/).first()).toBeVisible();
  await expect.poll(() => descriptionOf(platform, page, lambda)).toBe('version 2');

  await page.getByRole('button', { name: 'Snapshots', exact: true }).click();
  await dialog.getByRole('button', { name: 'More of before' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete the snapshot' }).click();
  await expect(dialog).toContainText('No snapshots yet');
  expect(await send<unknown[]>(platform, page, 'GET', '/inspect/snapshots')).toEqual([]);
});

test('a commit of another client appears without a reload, and without a network as well', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page);
  await commitDescriptions(platform, page, 1);
  await platform.open(page, 'history');
  const first = commits(page).getByRole('row').nth(1);
  await expect(first).toContainText(/root changed /);
  await send(platform, page, 'POST', '/meta/root', { name: 'watched' });
  await expect(first).toContainText(/root created watched.*\/watched/);
  await expect(timeLine(page)).toContainText(`${await newestOf(platform, page)} commits`);
  // New commits do not change the selected time.
  await platform.open(page, 'history?sel=2&tab=since');
  await send(platform, page, 'POST', '/meta/root', { name: 'later' });
  await expect(moment(page).getByText('/later')).toBeVisible();
  await expect(page).toHaveURL(/sel=2/);

  // It also works without a network.
  const lambda = await commitDescriptions(platform, page, 2);
  const newest = await newestOf(platform, page);
  await platform.open(page, `history?sel=${newest}`);
  await page.evaluate(`dispatchEvent(new Event('offline'))`);
  await send(platform, page, 'POST', '/meta/root', { name: 'offline' });
  await expect(timeLine(page)).toContainText(`${await newestOf(platform, page)} commits`);
  await moment(page).getByRole('button', { name: 'Revert this commit' }).click();
  await expect(page.getByText(`Commit ${newest} was undone.`)).toBeVisible();
  await expect.poll(() => descriptionOf(platform, page, lambda)).toBe('version 1');
});

test('commits are filtered by words and by scope', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  const lambda = await commitDescriptions(platform, page, 2);
  const org = await send<Named>(platform, page, 'POST', '/meta/root', { name: 'acme' });
  await platform.open(page, 'history');
  await expect(commits(page).getByRole('row')).toHaveCount(6);
  await page.keyboard.press('/');
  await page.keyboard.type(`${lambda.name} update`);
  await expect(commits(page).getByRole('row')).toHaveCount(3);
  await expect(page).toHaveURL(/find=/);
  await commits(page).getByRole('row').nth(1).click();
  await expect(moment(page).getByRole('heading', { name: 'Commit 4', exact: true })).toBeVisible();
  await page.reload();
  await expect(commits(page).getByRole('row')).toHaveCount(3);
  await page.getByRole('searchbox', { name: 'Find commits' }).fill('xylophone');
  await page.getByRole('button', { name: 'Clear the query' }).click();
  await expect(commits(page).getByRole('row')).toHaveCount(6);
  await platform.open(page, `history?scope=${org.id}`);
  await expect(commits(page).getByRole('row')).toHaveCount(2);
  await expect(commits(page).getByRole('row').nth(1)).toContainText(/root created acme.*\/acme/);
  // Search results are live, too.
  await send(platform, page, 'POST', '/meta/acme/workspaces', { name: 'shop' });
  await expect(commits(page).getByRole('row').nth(1)).toContainText('/acme/shop');
});

test('ten thousand commits scroll, and each can be opened', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.end('SIGTERM');
  await growHistory(platform.dataDir, 'order-status', 10_000);
  await platform.start();
  await platform.open(page, 'history');
  const newest = await newestOf(platform, page);
  await expect(timeLine(page)).toContainText(`${newest.toLocaleString('en')} commits`);
  // Only visible rows are rendered.
  expect(await commits(page).getByRole('row').count()).toBeLessThan(100);
  await commits(page).focus();
  await page.keyboard.press('End');
  await expect(page).toHaveURL(/sel=1(&|$)/);
  await expect(commits(page).getByRole('row', { selected: true })).toContainText(/^1\d\d:/);
  await page.keyboard.press('Home');
  await expect(page).toHaveURL(new RegExp(`sel=${newest}(&|$)`));

  await slider(page).focus();
  await page.keyboard.press('PageDown');
  await expect(page).not.toHaveURL(new RegExp(`sel=${newest}(&|$)`));
  const at = Number(new URL(page.url()).searchParams.get('sel'));
  expect(newest - at).toBeGreaterThan(100);
  await expect(moment(page).getByRole('heading', { name: `Commit ${at}`, exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Previous commit' }).click();
  await expect(page).toHaveURL(new RegExp(`sel=${at - 1}(&|$)`));
  await slider(page).focus();
  await page.keyboard.press('Home');
  await moment(page).getByRole('tab', { name: 'World at this point' }).click();
  await expect(moment(page).getByRole('searchbox')).toBeVisible();
  await expect(moment(page)).toContainText(/1 resources?|\d+ resources/);
});

test('axe finds no violation in any state of the history, light and dark', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page);
  const lambda = await commitDescriptions(platform, page, 3);
  await send(platform, page, 'POST', '/inspect/snapshots', { name: 'kept' });
  for (const [state, path] of [
    ['a change', 'history?sel=4'],
    ['a world', `history?sel=4&tab=world&rec=${lambda.id}`],
    ['a difference', 'history?sel=3&tab=since'],
    ['snapshots', 'history?dialog=snapshots'],
    ['import', 'history?dialog=import'],
    ['reset', 'history?dialog=reset'],
  ] as const) {
    await platform.open(page, path);
    await waitUntilStill(page);
    await expectNoFaults(page, state);
  }
});
