import { paneOf, pickResource, windowClient } from './resources-window.ts';
import { expect, test } from './window.ts';

test('root undoes and redoes a saved change from its message', async ({ page, platform }) => {
  await platform.open(page);
  const { find, read } = windowClient(platform, page);
  const { id, description } = await find('lambdas', 'contact-form');
  await platform.open(page, `resources/${id}`);
  await paneOf(page).getByRole('textbox', { name: 'Description', exact: true }).fill('Changed by mistake');
  await paneOf(page).getByRole('button', { name: 'Review 1 change' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply 1 change' }).click();
  await expect(page.getByText('contact-form was changed.')).toBeVisible();
  expect((await read(id)).description).toBe('Changed by mistake');

  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(page.getByText(/^Commit \d+ was undone\.$/)).toBeVisible();
  expect((await read(id)).description).toBe(description);

  await page.getByRole('button', { name: 'Redo', exact: true }).click();
  await expect(page.getByText(/^Commit \d+ was redone\.$/)).toBeVisible();
  expect((await read(id)).description).toBe('Changed by mistake');
});

test('Undo reverts every commit of a change, and only those', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  const { send, find } = windowClient(platform, page);
  const names = async (collection: string) =>
    ((await send('GET', `/meta/demo/${collection}?expand=true`)) as { name: string }[]).map(({ name }) => name);
  const lambda = await find('lambdas', 'contact-form');
  const before = [await names('lambdas'), await names('apiendpoints')];
  await platform.open(page, 'lambdas?new=web-form');
  const dialog = page.getByRole('dialog', { name: 'New lambda' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('sign-up');
  await pickResource(page, 'In', 'integration');
  await expect(dialog.getByLabel('Public path')).toHaveValue('/sign-up');
  // Another change in between: it stays.
  await send('PATCH', `/meta/demo/lambdas/${lambda.id}`, [{ op: 'add', path: '/description', value: 'kept' }]);
  await dialog.getByRole('button', { name: 'Create lambda' }).click();
  await expect(page.getByText('sign-up was created.')).toBeVisible();
  expect(await names('lambdas')).toContain('sign-up');
  expect((await names('apiendpoints')).length).toBe((before[1]?.length ?? 0) + 1);

  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(page.getByText(/^Commit \d+, \d+ was undone\.$/)).toBeVisible();
  expect([await names('lambdas'), await names('apiendpoints')]).toEqual(before);
  expect((await find('lambdas', 'contact-form')).description).toBe('kept');
});
