import { codeOf, consoleOf, lambdaClient, openLambda, reviewSaves, write } from './lambda-client.ts';
import { expect, type Page, test } from './window.ts';

const HELLO = 'exports.run = (event, context, callback) => callback(null, "hello");\n';

/** Runs the open lambda with its stored code. */
const run = (page: Page) => page.keyboard.press('ControlOrMeta+Enter');

test('a failed run shows its error, and the editor marks the line', { tag: '@slow' }, async ({ page, platform }) => {
  const client = await lambdaClient(platform, page);
  const lambda = await client.make('fails', 'exports.run = () => {\n  const a = ;\n};\n');
  await openLambda(platform, page, lambda);
  const console = consoleOf(page);
  const mark = page.locator('.cm-lintRange-error');
  const save = async (source: string) => {
    await write(page, codeOf(page), source);
    await run(page);
  };
  await run(page);
  await expect(console).toContainText('load');
  await expect(console).toContainText('syntax error in index.js, line 2');
  await expect(mark).toHaveText('const a = ;');

  await save('exports.run = async () => {\n\n  throw new TypeError("<b>no</b> such thing");\n};\n');
  await expect(console).toContainText('<b>no</b> such thing');
  await expect(console).toContainText('In line 3, column 9 of the code.');
  const source = console.getByRole('region', { name: 'Source of the failure' });
  await expect(source.getByRole('listitem')).toHaveText([/^1exports/, /^2/, /^3.*throw new TypeError/, /^4/, /^5/]);
  await expect(mark).toHaveText('throw new TypeError("<b>no</b> such thing");');
  // Code that another user stored is different: no line is marked.
  await client.patch(lambda.id, { op: 'replace', path: '/properties/code', value: HELLO });
  await expect(mark).toHaveCount(0);
  await expect(console).toContainText('The code has changed since.');

  const setTimeoutOfLambda = (value: number) =>
    client.patch(lambda.id, { op: 'add', path: '/properties/timeout', value });
  await setTimeoutOfLambda(1);
  await save('exports.run = () => new Promise(() => {});\n');
  await expect(console).toContainText('timeout');
  await expect(console).toContainText("the handler returned no result within 1 s (the lambda's 'timeout')");
  await setTimeoutOfLambda(60);
  await save('exports.run = () => process.exit(3);\n');
  await expect(console).toContainText("the lambda's process ended with exit code 3");
  await save('exports.other = 1;\n');
  await expect(console).toContainText("handler 'run' is not exported by index.js; its exports are other");
  await save(HELLO);
  await expect(console.getByRole('region', { name: 'Result' })).toContainText('hello');
  await expect(mark).toHaveCount(0);

  // Two concurrent runs.
  await console.getByRole('button', { name: /Compare with/ }).click();
  await page.getByRole('option', { name: 'Run 4: crash' }).click();
  await expect(console.locator('.cm-deletedLine, .cm-deletedChunk').first()).toContainText('exit code 3');
});

test('a log of 1 MB is shown in part, and as a whole on request', { tag: '@slow' }, async ({ page, platform }) => {
  const client = await lambdaClient(platform, page);
  const code = `exports.run = (event, context, callback) => {
  for (let i = 0; i < 8_000; i += 1) console.log(i + ' ' + 'x'.repeat(115));
  callback(null, 'done');
};`;
  const lambda = await client.make('chatty', code);
  await openLambda(platform, page, lambda);
  await run(page);
  const log = consoleOf(page).getByRole('region', { name: 'Log' });
  await expect(log).toContainText('8,000 lines');
  await expect(consoleOf(page).getByRole('region', { name: 'Result' })).toContainText('done');
  expect(await log.getByRole('listitem').count()).toBeLessThanOrEqual(400);
  await log.getByRole('button', { name: /^Show all 8,000 lines, [\d.]+ [kM]B$/ }).click();
  await expect(log.getByRole('listitem')).toHaveCount(8_000);
  await expect(log.getByRole('listitem').last()).toContainText('7999 x');
});

test('five megabytes of code can be opened, edited, saved and run', { tag: '@slow' }, async ({ page, platform }) => {
  const client = await lambdaClient(platform, page);
  const line = `// ${'x'.repeat(96)}\n`;
  const lambda = await client.make('large', `${HELLO}${line.repeat(52_000)}`);
  await reviewSaves(platform, page);
  await openLambda(platform, page, lambda);
  await expect(codeOf(page)).toContainText('callback(null, "hello")');
  await codeOf(page).click();
  await page.keyboard.press('ControlOrMeta+Home');
  await page.keyboard.insertText('// first\n');
  await expect(page.getByRole('tab', { name: 'Code (changed)' })).toBeVisible();
  await run(page);
  const dialog = page.getByRole('dialog');
  await expect(dialog.locator('.cm-changedLine, .cm-insertedLine').first()).toContainText('// first');
  await dialog.getByRole('button', { name: 'Save and run' }).click();
  await expect(consoleOf(page).getByRole('region', { name: 'Result' })).toContainText('hello');
});

test('of two windows that edit the same code, the second sees both versions and overwrites nothing unseen', {
  tag: '@slow',
}, async ({ page, platform }) => {
  const client = await lambdaClient(platform, page);
  const lambda = await client.make('shared', HELLO);
  await reviewSaves(platform, page);
  const other = await page.context().newPage();
  await openLambda(platform, page, lambda);
  await openLambda(platform, other, lambda);
  await write(page, codeOf(page), HELLO.replace('hello', 'mine'));
  await write(other, codeOf(other), HELLO.replace('hello', 'theirs'));
  await other.keyboard.press('ControlOrMeta+s');
  await other.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await expect(other.getByRole('tab', { name: 'Code', exact: true })).toBeVisible();

  await expect(page.getByRole('alert')).toContainText('Someone else saved other code');
  await expect(codeOf(page)).toContainText('mine');
  await page.keyboard.press('ControlOrMeta+s');
  // Saving opens the comparison first.
  const compared = page.getByRole('dialog', { name: 'Conflicting changes to the code of shared' });
  await expect(compared).toContainText('theirs');
  await expect(compared).toContainText('mine');
  await compared.getByRole('button', { name: 'Keep mine' }).click();
  await expect(page.getByRole('alert')).toHaveCount(0);
  await page.keyboard.press('ControlOrMeta+s');
  await expect(page.getByRole('dialog').locator('.cm-deletedChunk').first()).toContainText('theirs');
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await expect(codeOf(other)).toContainText('mine');

  // The platform rejects the later of two concurrent saves.
  await write(page, codeOf(page), HELLO.replace('hello', 'too late'));
  await page.keyboard.press('ControlOrMeta+s');
  await expect(page.getByRole('dialog')).toBeVisible();
  await client.patch(lambda.id, { op: 'replace', path: '/properties/code', value: HELLO.replace('hello', 'first') });
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByRole('dialog')).toContainText('Nothing was overwritten');
  await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Discard mine, show theirs' }).click();
  await expect(codeOf(page)).toContainText('first');
  await other.close();
});

test('unsaved code survives other screens and the deletion of its lambda, and the browser asks before it is lost', {
  tag: '@slow',
}, async ({ page, platform }) => {
  const client = await lambdaClient(platform, page);
  const lambda = await client.make('short-lived', HELLO);
  await openLambda(platform, page, lambda);
  await write(page, codeOf(page), '// an hour of work\n');
  const row = page.getByRole('grid', { name: 'Lambdas' }).getByRole('row').filter({ hasText: 'short-lived' });
  await expect(row).toContainText('not saved');
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Leads' }).click();
  await expect(page.getByRole('heading', { name: 'Leads', exact: true })).toBeVisible();
  await page.goBack();
  await expect(codeOf(page)).toContainText('an hour of work');

  const dialogEvent = page.waitForEvent('dialog');
  const navigation = page.goto(`${platform.windowOrigin}/docs`).catch(() => undefined);
  const dialog = await dialogEvent;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.dismiss();
  await navigation;

  await client.remove(lambda.id);
  const workbench = page.getByRole('region', { name: 'Workbench' });
  await expect(workbench.getByRole('heading', { name: 'short-lived was deleted or moved' })).toBeVisible();
  await expect(workbench.getByRole('textbox', { name: 'Unsaved code' })).toContainText('an hour of work');
  await workbench.getByRole('button', { name: 'Discard it' }).click();
  await expect(workbench.getByRole('textbox')).toHaveCount(0);
});

test('a package shows its kind, and an unavailable package its error', { tag: '@slow' }, async ({ page, platform }) => {
  const client = await lambdaClient(platform, page);
  const lambda = await client.make('packed', '', {
    code_type: 'package',
    code: undefined,
    package_url: 'file:///no/such/package.zip',
    compressed: true,
    handler: 'index.run',
  });
  await openLambda(platform, page, lambda);
  const workbench = page.getByRole('region', { name: 'Workbench' });
  await expect(workbench).toContainText('The code of this lambda is a package');
  await expect(workbench).toContainText('file:///no/such/package.zip');
  await expect(workbench).toContainText('a zip archive, unpacked before it is run');
  await expect(codeOf(page)).toHaveCount(0);
  await expect(workbench.getByRole('button', { name: 'Save', exact: true })).toBeDisabled();
  await run(page);
  await expect(consoleOf(page)).toContainText('/no/such/package.zip');
});
