import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf, consoleOf, lambdaClient, openLambda, reviewSaves, write } from './lambda-client.ts';
import { expect, test } from './window.ts';

const answering = (text: string) =>
  `exports.run = (event, context, callback) => callback(null, ${JSON.stringify(text)});`;
const LOGGING = `const inner = exports.run;
exports.run = (event, context, callback) => {
  console.error('and complained');
  inner(event, context, callback);
};`;

test('code is edited, reviewed as a patch, saved and run with one key, and result, calls and log appear', async ({
  page,
  platform,
}) => {
  const client = await lambdaClient(platform, page);
  const lambda = await client.find('contact-form');
  await reviewSaves(platform, page);
  await openLambda(platform, page, lambda);
  const code = codeOf(page);
  await expect(code).toContainText("var https = require('https')");

  // A form for the web form's payload, and the same as JSON.
  const event = page.getByRole('region', { name: 'Test event' });
  await event.getByLabel('First name').fill('Grace');
  await event.getByRole('radio', { name: 'JSON' }).click();
  await expect(page.getByRole('textbox', { name: 'Test event as JSON' })).toContainText('"firstName": "Grace"');
  await event.getByRole('radio', { name: 'Form' }).click();
  expect(page.url()).toContain('eventAs=form');

  await code.click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText(LOGGING);
  await expect(page.getByRole('tab', { name: 'Code (changed)' })).toBeVisible();
  await page.keyboard.press('ControlOrMeta+Enter');
  const dialog = page.getByRole('dialog', { name: 'Save the code of contact-form' });
  await expect(dialog.getByRole('list', { name: 'Operations' })).toContainText('replace/properties/code');
  await expect(
    dialog.locator('.cm-insertedLine, .cm-changedLine').filter({ hasText: 'complained' }).first(),
  ).toContainText("console.error('and complained')");
  expect((await client.find('contact-form')).properties.code).toBe(lambda.properties.code);
  await dialog.getByRole('button', { name: 'Save and run' }).click();

  const console = consoleOf(page);
  await expect(console.getByRole('region', { name: 'Result' })).toContainText('SUCCESS');
  await expect(console.getByRole('region', { name: 'Outbound calls' })).toContainText(/200.*POST/);
  await expect(console.getByRole('region', { name: 'Outbound calls' })).toContainText('https://crm.example.com/');
  await expect(console.getByRole('region', { name: 'Log' })).toContainText('CRM answered 200');
  await expect(console.getByRole('region', { name: 'Log' })).toContainText('and complained');
  await expect(page.getByRole('tab', { name: 'Code', exact: true })).toBeVisible();

  // The key runs it once, from the editor and from a field of the form.
  await code.click();
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(console).toContainText('Run 2');
  await event.getByLabel('Company').press('ControlOrMeta+Enter');
  await expect(console).toContainText('Run 3');
  const { body } = await platform.send(page, 'GET', '/inspect/leads');
  expect(body).toHaveLength(3);

  await console.getByRole('link', { name: 'See the lead' }).click();
  await expect(page.getByRole('grid', { name: 'Leads' }).getByRole('row')).toHaveCount(2);
  await expect(page.getByRole('grid', { name: 'Leads' })).toContainText('Grace');
});

test('test events are saved on the platform under names, shown in another browser, and deleted', {
  tag: '@slow',
}, async ({ page, browser, platform }) => {
  const client = await lambdaClient(platform, page);
  const lambda = await client.make('echo', 'exports.run = (event) => JSON.parse(event);');
  await openLambda(platform, page, lambda);
  const event = page.getByRole('region', { name: 'Test event' });
  const editor = page.getByRole('textbox', { name: 'Test event as JSON' });
  await write(page, editor, '{"customer": 1}');
  await event.getByRole('button', { name: 'Save the event under a name' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('A customer');
  await page.keyboard.press('Enter');
  await expect(event.getByRole('button', { name: 'A customer Saved event' })).toBeVisible();
  expect(page.url()).toContain('event=A+customer');
  await write(page, editor, '{"customer": 2}');
  await event.getByRole('button', { name: 'Save event A customer' }).click();
  await expect(event.getByRole('button', { name: 'Save event A customer' })).toBeHidden();

  // The address leads a colleague to the same event.
  const other = await (await browser.newContext()).newPage();
  await other.goto(`${platform.windowOrigin}/ui/`);
  await other.getByLabel(/password/i).fill('terrarium');
  await other.getByRole('button', { name: /sign in/i }).click();
  await expect(other.getByRole('heading', { name: 'Home', exact: true })).toBeVisible();
  await other.goto(page.url());
  await expect(other.getByRole('textbox', { name: 'Test event as JSON' })).toContainText('"customer": 2');
  await other.keyboard.press('ControlOrMeta+Enter');
  await expect(consoleOf(other).getByRole('region', { name: 'Result' })).toContainText('2');
  await other.getByRole('button', { name: 'Delete event A customer' }).click();
  await expect(event.getByRole('button', { name: 'none saved Saved event' })).toBeVisible();
  await other.context().close();

  await write(page, editor, '{"customer": ');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(consoleOf(page).getByRole('alert')).toContainText(/JSON/);
});

test('a secret is created and bound where the variables are, and its value is not shown', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  const client = await lambdaClient(platform, page);
  const lambda = await client.make('secretive', 'exports.run = () => process.env.API_TOKEN;');
  await openLambda(platform, page, lambda, 'env');
  const section = page.getByRole('region', { name: 'Secrets' });
  await page.getByRole('button', { name: 'New secret' }).click();
  const dialog = page.getByRole('dialog', { name: 'New secret for secretive' });
  await dialog.getByLabel('Variable').fill('API_TOKEN');
  await dialog.getByLabel('Value', { exact: true }).fill('top-s3cret');
  await dialog.getByRole('button', { name: 'Create and bind' }).click();
  await expect(dialog).toBeHidden();
  await expect(section.getByRole('listitem')).toContainText('secret api-token, item API_TOKEN');
  expect(await page.content()).not.toContain('top-s3cret');
  const { secrets } = (await client.find('secretive')).properties;
  expect(secrets).toMatchObject([{ mount_type: 'env', path: 'API_TOKEN', secret_key: 'API_TOKEN' }]);
  await section.getByRole('button', { name: 'Unbind API_TOKEN' }).click();
  await expect(section.getByRole('listitem')).toHaveCount(0);
  expect((await client.find('secretive')).properties.secrets).toEqual([]);
});

test('variables are hidden, shown on request, added, changed, removed, and saved as a patch', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  const client = await lambdaClient(platform, page);
  const env = { TOKEN: 'top-s3cret', OLD: 'x', GREETING: 'hello' };
  const lambda = await client.make('env', 'exports.run = () => process.env;', { env });
  await openLambda(platform, page, lambda, 'env');
  const table = page.getByRole('table', { name: 'Environment variables' });
  const row = (name: string) => table.getByRole('row').filter({ hasText: name });
  await expect(row('TOKEN')).toContainText('this lambda');
  await expect(row('SHOP_NAME')).toContainText('workspace website');
  await expect(page.getByText('top-s3cret')).toBeHidden();
  await page.getByRole('button', { name: 'Show TOKEN' }).click();
  await expect(row('TOKEN')).toContainText('top-s3cret');
  await page.getByRole('button', { name: 'Hide TOKEN' }).click();
  await expect(page.getByText('top-s3cret')).toBeHidden();

  await page.getByLabel('Name of a new variable').fill('2nd');
  await expect(page.getByText('is not a valid name')).toBeVisible();
  await page.getByLabel('Name of a new variable').fill('SECOND');
  await page.getByLabel('Value of the new variable').fill('two');
  await page.keyboard.press('Enter');
  await page.getByLabel('Name of a new variable').fill('API_KEY');
  await page.getByLabel('Value of the new variable', { exact: true }).fill('s3cret-key');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Change GREETING' }).click();
  await page.getByLabel('Value of GREETING').fill('good evening');
  await page.getByRole('button', { name: 'Override SHOP_NAME' }).click();
  await page.getByLabel('Value of SHOP_NAME').fill('My shop');
  await page.getByRole('button', { name: 'Remove OLD' }).click();
  await expect(row('OLD')).toContainText('to be removed');
  await expect(page.getByRole('tab', { name: 'Environment (changed)' })).toBeVisible();
  await page.getByRole('button', { name: 'Save variables' }).click();
  const operations = page.getByRole('dialog').getByRole('list', { name: 'Operations' });
  await expect(operations).toContainText('add/properties/env/SECOND"two"');
  await expect(operations).toContainText('replace/properties/env/GREETING"good evening"');
  await expect(operations).toContainText('remove/properties/env/OLD');
  await expect(operations).toContainText('add/properties/env/API_KEYhidden');
  // A second time saves the visible variables, not the code in the other tab.
  await page.keyboard.press('ControlOrMeta+s');
  await expect(page.getByRole('tab', { name: 'Environment', exact: true })).toBeVisible();
  await expect(row('SHOP_NAME')).toContainText('this lambda, overrides website');
  expect((await client.find('env')).properties.env).toEqual({
    TOKEN: 'top-s3cret',
    GREETING: 'good evening',
    SECOND: 'two',
    API_KEY: 's3cret-key',
    SHOP_NAME: 'My shop',
  });
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(consoleOf(page).getByRole('region', { name: 'Result' })).toContainText('"SECOND": "two"');

  // Another user changes the variable that is being edited: nothing is overwritten.
  await page.getByRole('button', { name: 'Change TOKEN' }).click();
  await page.getByLabel('Value of TOKEN', { exact: true }).fill('mine');
  await client.patch(lambda.id, { op: 'replace', path: '/properties/env/TOKEN', value: 'theirs' });
  await expect(row('TOKEN').getByRole('alert')).toContainText('Someone else has changed it');
  await expect(page.getByRole('button', { name: 'Save variables' })).toBeDisabled();
  await row('TOKEN').getByRole('button', { name: 'Take theirs' }).click();
  await page.getByRole('button', { name: 'Show TOKEN' }).click();
  await expect(row('TOKEN')).toContainText('theirs');
});

test('a user who cannot view the workspace sees the variables, and the permission that would show the inherited ones', {
  tag: '@slow',
}, async ({ page, browser, platform }) => {
  const client = await lambdaClient(platform, page);
  const code = 'exports.run = () => [process.env.SHOP_NAME, process.env.NOT_SET];';
  const lambda = await client.make('shared', code, { env: { TOKEN: 'one' } });
  const environmentId = lambda.properties.parent?.id ?? '';
  await client.patch(environmentId, { op: 'add', path: '/properties/env', value: { REGION: 'eu' } });
  const visitor = { name: 'visitor', properties: { password: 'a-visitor-comes' } };
  // As: what the API document says of a user.
  const { id } = (await client.send('POST', '/meta/demo/users', visitor)) as { id: string };
  await client.send('PUT', `/inspect/roles/${environmentId}`, { identities: [id], role: 'developer' });

  const otherPage = await (await browser.newContext()).newPage();
  await otherPage.goto(`${platform.windowOrigin}/ui/lambdas/${lambda.id}?tab=env`);
  await otherPage.getByLabel(/user name/i).fill('visitor');
  await otherPage.getByLabel(/password/i).fill('a-visitor-comes');
  await otherPage.keyboard.press('Enter');
  const row = (name: string) =>
    otherPage.getByRole('table', { name: 'Environment variables' }).getByRole('row', { name });
  await expect(row('TOKEN')).toContainText('this lambda');
  await expect(row('REGION')).toContainText('environment development');
  await expect(row('SHOP_NAME')).toContainText('a resource you cannot view');
  await expect(otherPage.getByRole('note')).toContainText(/workspace\.view.*Ask root or an owner/);
  await otherPage.getByRole('button', { name: 'Override SHOP_NAME' }).click();
  await expect(otherPage.getByLabel('Value of SHOP_NAME')).not.toHaveValue('');
  // Unset variables look different from hidden ones.
  await otherPage.getByRole('tab', { name: 'Code' }).click();
  await expect(otherPage.getByRole('status').filter({ hasText: 'not set' })).toContainText(/not set:\s*NOT_SET/);
  await otherPage.context().close();
});

test('the code follows a linked file, whose saved content runs next', { tag: '@slow' }, async ({ page, platform }) => {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-linked-'));
  const file = join(folder, 'linked.js');
  await writeFile(file, answering('from the file'));
  const client = await lambdaClient(platform, page);
  const lambda = await client.make('linked', answering('inline'));
  await openLambda(platform, page, lambda);
  await page.getByRole('button', { name: 'Link to a file' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/Absolute path/).fill(join(folder, 'not-there.js'));
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('alert')).toContainText('not-there.js');
  await dialog.getByLabel(/Absolute path/).fill(file);
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  await expect(page.getByText(file)).toBeVisible();
  await expect(codeOf(page)).toContainText('from the file');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(consoleOf(page).getByRole('region', { name: 'Result' })).toContainText('from the file');

  await writeFile(file, answering('saved in an editor'));
  await expect(codeOf(page)).toContainText('saved in an editor');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(consoleOf(page).getByRole('region', { name: 'Result' })).toContainText('saved in an editor');
  await rm(file);
  await expect(page.getByRole('region', { name: 'Workbench' }).getByRole('alert')).toContainText('linked.js');
  await page.getByRole('button', { name: 'Unlink' }).click();
  await expect(page.getByText('Inline code, one file.')).toBeVisible();
  await expect(codeOf(page)).toContainText('saved in an editor');
  await rm(folder, { recursive: true });
});
