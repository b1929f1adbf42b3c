import { beginTask } from './clicks.ts';
import { codeOf, consoleOf, lambdaClient, openLambda } from './lambda-client.ts';
import { expect, test } from './window.ts';

test('the code editor saves with Ctrl S, offers Undo, finds text with Ctrl F and indents with Tab', {
  tag: '@slow',
}, async ({ page, platform }) => {
  const client = await lambdaClient(platform, page);
  const lambda = await client.find('contact-form');
  await openLambda(platform, page, lambda);
  const keyboardTask = await beginTask(page, 'code is edited, saved and run by keys');
  await codeOf(page).focus();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText('// by hand');
  await expect(page.getByRole('tab', { name: 'Code (changed)' })).toBeVisible();
  await page.keyboard.press('ControlOrMeta+s');
  await expect(page.getByText('contact-form was saved.')).toBeVisible();
  await expect(page.getByRole('tab', { name: 'Code', exact: true })).toBeVisible();
  expect((await client.find('contact-form')).properties.code).not.toBe(lambda.properties.code);
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(consoleOf(page).getByRole('region', { name: 'Result' })).toContainText('SUCCESS');
  await keyboardTask();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(codeOf(page)).not.toContainText('// by hand');
  expect((await client.find('contact-form')).properties.code).toBe(lambda.properties.code);

  const finder = await client.make('finder', 'exports.run = () => {\nconst needle = 1;\n};\n// needle');
  await openLambda(platform, page, finder);
  await codeOf(page).focus();
  await page.keyboard.press('ControlOrMeta+f');
  const find = page.getByRole('textbox', { name: 'Find', exact: true });
  await expect(find).toBeFocused();
  await page.keyboard.type('needle');
  await expect(page.locator('.cm-searchMatch')).toHaveCount(2);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await expect(find).toBeHidden();
  await expect(codeOf(page)).toBeFocused();
  await page.keyboard.press('Home');
  await page.keyboard.press('Tab');
  await expect(codeOf(page)).toContainText('  const needle = 1;');
});

test('a resource is created by keyboard: its name has the focus, Enter creates it, Esc closes', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await platform.open(page);
  const found = await platform.send(page, 'GET', '/meta/demo');
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
