import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beginTask } from './clicks.ts';
import { InProcessPlatform } from './in-process-platform.ts';
import { lineOf, paneOf, pick, pickResource, tabOf, windowClient, writeJson } from './resources-window.ts';
import { expect, test } from './window.ts';

test('an edit in the form is shown as a patch and a diff before it is applied', async ({ page, platform }) => {
  await platform.open(page);
  const { find, read } = windowClient(platform, page);
  const { id } = await find('lambdas', 'contact-form');
  await platform.open(page, `resources/${id}`);
  const pane = paneOf(page);
  await expect(pane.getByRole('button', { name: 'Review changes' })).toBeDisabled();
  await pane.getByRole('textbox', { name: 'Description', exact: true }).fill('Sends the form on');
  await pane.getByRole('button', { name: 'Add to Environment variables' }).click();
  await pane
    .getByRole('textbox', { name: /^Environment variables: name/ })
    .last()
    .fill('LOG_LEVEL');
  await pane.getByRole('textbox', { name: 'Environment variables: value of LOG_LEVEL' }).fill('debug');
  await expect(tabOf(page, 'Form •')).toBeVisible();
  await pane.getByRole('button', { name: 'Review 2 changes' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('list', { name: 'Operations' })).toContainText('/properties/env/LOG_LEVEL');
  await expect(dialog.getByRole('list', { name: 'Operations' })).toContainText('description');
  await expect(dialog.getByLabel('What changes: after')).toContainText('Sends the form on');
  expect((await read(id)).description).not.toBe('Sends the form on');
  await dialog.getByRole('button', { name: 'Apply 2 changes' }).click();
  await expect(dialog).toBeHidden();
  await expect(pane.getByText('No changes')).toBeVisible();
  expect(await read(id)).toMatchObject({
    description: 'Sends the form on',
    properties: { env: { LOG_LEVEL: 'debug' } },
  });
});

test("a lambda's code is edited as the source that it is, and runs", { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  const { id } = await windowClient(platform, page).find('lambdas', 'order-status');
  await platform.open(page, `resources/${id}`);
  const code = paneOf(page).getByRole('textbox', { name: 'Code', exact: true });
  await expect(code).toHaveValue(/export async function run/);
  await code.fill("export async function run() {\n  return { statusCode: 200, body: 'changed by hand' };\n}\n");
  await page.keyboard.press('ControlOrMeta+s');
  await expect(page.getByLabel('What changes: code: after')).toContainText('changed by hand');
  await page.getByRole('dialog').getByRole('button', { name: 'Apply 1 change' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  expect(await (await platform.call('/website/orders/1001')).text()).toContain('changed by hand');
});

test('JSON that the schema or the server rejects is marked in its line', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page);
  const { find, read } = windowClient(platform, page);
  const { id } = await find('apiendpoints', 'lead');
  await platform.open(page, `resources/${id}?tab=json`);
  const pane = paneOf(page);
  const markedLine = async () => {
    await expect(pane.locator('.cm-lintRange-error').first()).toBeVisible();
    return pane
      .locator('.cm-line', { has: page.locator('.cm-lintRange-error') })
      .first()
      .textContent();
  };
  const record = { name: 'lead', properties: { ...(await read(id)).properties } };
  const { resource, implementation_type, implementation_id, methods } = record.properties;
  const written = { resource, implementation_type, implementation_id, methods };

  await writeJson(page, '{ "name": "lead", ');
  await expect(pane.getByText('This is not valid JSON: see the marked line.')).toBeVisible();
  await expect(pane.getByRole('button', { name: 'Review changes' })).toBeDisabled();

  await writeJson(page, JSON.stringify({ name: 'lead', properties: { ...written, colour: 'red' } }, null, 2));
  expect(await markedLine()).toContain('"colour"');
  await writeJson(
    page,
    JSON.stringify({ name: 'lead', properties: { ...written, implementation_type: 'tea' } }, null, 2),
  );
  await expect.poll(markedLine).toContain('tea');
  // Only the server can check that the lambda exists.
  const anonymous = '11111111-2222-4333-8444-555555555555';
  await writeJson(
    page,
    JSON.stringify({ name: 'lead', properties: { ...written, implementation_id: anonymous } }, null, 2),
  );
  await pane.getByRole('button', { name: /^Review/ }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Apply/ })
    .click();
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText('is not the id of an existing lambda');
  await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
  await expect.poll(markedLine).toContain(anonymous);
  // The form shows the error at the field.
  await tabOf(page, /^Form/).click();
  await expect(pane.getByText(/is not the id of an existing lambda/)).toBeVisible();
  await pane.getByRole('button', { name: 'Discard' }).click();
  await expect(pane.getByText('No changes')).toBeVisible();

  await tabOf(page, 'JSON').click();
  await writeJson(
    page,
    JSON.stringify({ name: 'lead', properties: { ...written, methods: ['POST', 'PUT'] } }, null, 2),
  );
  await pane.getByRole('button', { name: /^Review/ }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Apply/ })
    .click();
  await expect(page.getByRole('dialog')).toBeHidden();
  expect((await read(id)).properties.methods).toEqual(['POST', 'PUT']);
});

test('the history of a resource compares two versions and undoes one change', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page);
  const { send, find, read } = windowClient(platform, page);
  const { id } = await find('lambdas', 'contact-form');
  for (const value of ['first words', 'second words']) {
    await send('PATCH', `/meta/demo/lambdas/${id}`, [{ op: 'add', path: '/description', value }]);
  }
  await platform.open(page, `resources/${id}?tab=history`);
  const pane = paneOf(page);
  const commits = pane.getByRole('list', { name: 'Commits' }).getByRole('listitem');
  await expect(commits.first()).toContainText('description');
  await expect(commits.first()).toContainText('root');
  await commits.nth(0).getByRole('checkbox').check();
  await commits.nth(1).getByRole('checkbox').check();
  await expect(page).toHaveURL(/compare=\d+/);
  const comparison = pane.getByRole('region', { name: 'Comparison' });
  await expect(comparison).toContainText('first words');
  await expect(comparison).toContainText('second words');
  await page.reload();
  await expect(comparison).toContainText('second words');
  await comparison.getByRole('button', { name: 'Close' }).click();
  await commits.first().getByRole('button', { name: 'Compare' }).click();
  await expect(commits.first()).toContainText('first words');
  await commits.first().getByRole('button', { name: 'Revert' }).click();
  await expect.poll(async () => (await read(id)).description).toBe('first words');
  await expect(commits.first()).toContainText('revert');
});

test('calls, relations and permissions of a resource update live', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  const { find } = windowClient(platform, page);
  const { id } = await find('lambdas', 'order-status');
  await platform.open(page, `resources/${id}?tab=calls`);
  const pane = paneOf(page);
  await expect(pane.getByText('Never invoked')).toBeVisible();
  await platform.call('/website/orders/1001');
  const calls = pane.getByRole('grid', { name: 'Invocations' });
  await expect(calls.getByRole('row')).toHaveCount(2);
  await platform.call('/website/orders/1002');
  await expect(calls.getByRole('row')).toHaveCount(3);

  await tabOf(page, 'Relations').click();
  await expect(pane.getByRole('region', { name: 'References', exact: true })).toContainText('default-lambda');
  await expect(pane.getByRole('region', { name: 'Referenced by' })).toContainText('orders');
  await pane.getByRole('region', { name: 'Referenced by' }).getByRole('link', { name: 'orders' }).click();
  await expect(pane.getByRole('heading', { name: 'orders' })).toBeVisible();
  await tabOf(page, 'Calls').click();
  await expect(pane.getByRole('grid', { name: 'Requests' }).getByRole('row')).toHaveCount(3);

  await tabOf(page, 'Permissions').click();
  await pane.getByRole('button', { name: /Grant/ }).click();
  await pick(page, /Action$/, 'apiendpoint.update');
  await pickResource(page, 'To a user or group', 'milo.tanaka');
  await page.getByRole('dialog').getByRole('button', { name: 'Grant permission' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  const right = pane
    .getByRole('list', { name: 'Permissions' })
    .getByRole('listitem')
    .filter({ hasText: 'apiendpoint.update' });
  await expect(right).toContainText('milo.tanaka');
  await pane.getByRole('searchbox', { name: 'Filter permissions' }).fill('update');
  await expect(page).toHaveURL(/right=update/);
  await expect(pane.getByRole('list', { name: 'Permissions' })).not.toContainText('apiendpoint.view');
  await right.getByRole('button', { name: 'Take apiendpoint.update from milo.tanaka' }).click();
  await expect(right).not.toContainText('milo.tanaka');
});

test('root sees a random password; a key is created, shown once, accepted by the API, and revoked', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await platform.open(page);
  const { send } = windowClient(platform, page);
  const users = (await send('GET', '/meta/root/users?expand=true')) as { id: string; name: string }[]; // as the document says
  const ada = users.find(({ name }) => name === 'ada.byrne');
  await platform.open(page, `resources/${ada?.id}?tab=keys`);
  const pane = paneOf(page);
  await pane.getByRole('button', { name: 'Show the password' }).click();
  const passwords = JSON.parse(await readFile(join(platform.dataDir, 'passwords.json'), 'utf8'));
  await expect(pane.getByText(passwords['ada.byrne'], { exact: true })).toBeVisible();
  await pane.getByRole('button', { name: 'New API key' }).click();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const dialog = page.getByRole('alertdialog');
  await expect(dialog).toContainText('The secret is shown only once');
  const [key = '', secret = ''] = await dialog.getByRole('definition').allInnerTexts();
  const authorization = `Basic ${Buffer.from(`${key.trim()}:${secret.trim()}`).toString('base64')}`;
  const status = async () =>
    (await fetch(`${platform.ready.baseUrl}/meta/orgs`, { headers: { Authorization: authorization } })).status;
  expect(await status()).toBe(200);
  await dialog.getByRole('button', { name: 'Done, I copied it' }).click();
  await expect(dialog).toBeHidden();
  await expect(pane.getByRole('table', { name: 'API keys' })).toContainText(key.trim());
  expect(await page.content()).not.toContain(secret.trim());
  await pane.getByRole('button', { name: `Revoke key ${key.trim()}` }).click();
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: /^Revoke/ })
    .click();
  await expect(pane.getByText('No keys yet')).toBeVisible();
  expect(await status()).toBe(401);
});

test('a deletion lists everything that it deletes, and the history restores all of it', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page);
  const { send, find } = windowClient(platform, page);
  const { id } = await find('workspaces', 'website');
  await platform.open(page, `resources/${id}`);
  const pane = paneOf(page);
  await pane.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('alertdialog', { name: 'Delete workspace website' });
  await expect(dialog).toContainText('3 environments, 2 lambdas, 1 API, 2 endpoints');
  await expect(dialog.getByRole('region', { name: 'Also deleted' })).toContainText('contact-form');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await pane.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete all 9' }).click();
  await expect(pane.getByRole('heading', { name: 'demo', exact: true })).toBeVisible();
  await expect(lineOf(page, 'contact-form lambda')).toBeHidden();
  expect((await platform.send(page, 'GET', `/meta/root/resources/${id}`)).status).toBe(404);

  await platform.load(page, `resources/${id}`);
  await expect(pane).toContainText('Resource not found');
  await pane.getByRole('button', { name: 'Revert' }).first().click();
  await expect(pane.getByRole('heading', { name: 'website', exact: true })).toBeVisible();
  await expect(lineOf(page, 'contact-form lambda')).toBeVisible();
  expect(((await send('GET', '/meta/demo/lambdas')) as unknown[]).length).toBe(4);
});

test('the menu has the actions of the API: an account is disabled and enabled, a lambda is promoted', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await platform.open(page);
  const { send, find } = windowClient(platform, page);
  const users = (await send('GET', '/meta/root/users?expand=true')) as { id: string; name: string }[]; // as the document says
  const ada = users.find(({ name }) => name === 'ada.byrne');
  await platform.open(page, `resources/${ada?.id}`);
  const pane = paneOf(page);
  const act = async (action: RegExp, button: string) => {
    await pane.getByRole('button', { name: /^Actions on/ }).click();
    await page.getByRole('menuitem', { name: action }).click();
    await expect(page.getByRole('dialog')).toContainText('As curl');
    await page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click();
    await expect(page.getByRole('dialog')).toBeHidden();
  };
  await act(/Disable the account/, 'Disable');
  await expect(pane.getByText('disabled', { exact: true })).toBeVisible();
  await act(/Enable the account/, 'Enable');
  await expect(pane.getByText('disabled', { exact: true })).toBeHidden();

  const lambda = await find('lambdas', 'order-status');
  await platform.open(page, `resources/${lambda.id}`);
  await pane.getByRole('button', { name: /^Actions on/ }).click();
  await page.getByRole('menuitem', { name: /Promote/ }).click();
  const box = page.getByRole('combobox', { name: 'To environment' });
  await box.fill('production');
  await page.getByRole('option', { name: 'production' }).filter({ hasText: 'website' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Promote', exact: true }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  const copies = (await send('GET', '/meta/demo/lambdas')) as { name: string }[]; // as the document says
  expect(copies.filter(({ name }) => name === 'order-status')).toHaveLength(2);
});

test(
  'a lambda is pushed to a real platform after the plan, the checks and the overwritten parts were shown',
  { tag: '@slow' },
  async ({ page, platform }, info) => {
    const real = new InProcessPlatform(info.outputPath('real'), {
      rootPassword: 'terrarium',
      containers: { engine: 'none' },
    });
    await real.start();
    try {
      await platform.open(page);
      const { send, find } = windowClient(platform, page);
      const { id } = await find('lambdas', 'contact-form');
      await send('PATCH', `/meta/demo/lambdas/${id}`, [
        { op: 'replace', path: '/properties/env/CRM_OID', value: 'live' },
      ]);
      const push = await beginTask(page, 'a lambda is pushed to another platform');
      await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Lambdas' }).click();
      await page
        .getByRole('grid', { name: 'Lambdas' })
        .getByRole('row', { name: /contact-form/ })
        .click();
      await page.getByRole('link', { name: 'Resource', exact: true }).click();
      await paneOf(page).getByRole('button', { name: 'Actions on contact-form' }).click();
      await page.getByRole('menuitem', { name: 'Push to a real platform…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox', { name: 'Address' }).fill(`${real.ready.baseUrl}/meta`);
      await expect(dialog.getByRole('textbox', { name: 'There' })).toHaveValue(
        'demo/website/development/lambdas/contact-form',
      );
      await dialog.getByRole('textbox', { name: 'API key, or user name' }).fill('root');
      await dialog.getByLabel('Its secret, or password').fill('terrarium');
      await page.keyboard.press('Enter');
      await expect(dialog.getByRole('list', { name: 'Steps' })).toContainText('+    CRM_OID: live');
      await expect(dialog.getByRole('list', { name: 'Check list' })).toContainText(
        'was not invoked since its last change',
      );
      await expect(dialog.getByRole('button', { name: 'Push 1' })).toBeDisabled();
      await dialog.getByText('Push anyway').click();
      await dialog.getByText('Overwrite it').click();
      await dialog.getByRole('button', { name: 'Push 1' }).click();
      await expect(page.getByText('1 pushed: lambda contact-form.')).toBeVisible();
      await push();
      await expect(dialog).toBeHidden();

      const value = [{ op: 'replace', path: '/properties/env/CRM_OID', value: 'here' }];
      await send('PATCH', `/meta/demo/lambdas/${id}`, value);
      await paneOf(page).getByRole('button', { name: 'Actions on contact-form' }).click();
      await page.getByRole('menuitem', { name: 'Pull from a real platform…' }).click();
      await dialog.getByRole('textbox', { name: 'API key, or user name' }).fill('root');
      await dialog.getByLabel('Its secret, or password').fill('terrarium');
      await page.keyboard.press('Enter');
      await dialog.getByText('Overwrite it').click();
      await dialog.getByRole('button', { name: 'Pull 1' }).click();
      await expect(page.getByText('1 pulled: lambda contact-form.')).toBeVisible();
      expect((await find('lambdas', 'contact-form')).properties).toMatchObject({ env: { CRM_OID: 'live' } });
      await page.getByRole('button', { name: 'Undo', exact: true }).click();
      await expect(page.getByText(/^Commit \d+ was undone\.$/)).toBeVisible();
      expect((await find('lambdas', 'contact-form')).properties).toMatchObject({ env: { CRM_OID: 'here' } });
    } finally {
      await real.end('SIGTERM');
    }
  },
);
