import { readFile, writeFile } from 'node:fs/promises';
import { commitDescriptions, newestOf, send, worldOf } from './history-window.ts';
import { expect, test } from './window.ts';

test(
  'an export imported into an empty world gives the same world',
  { tag: '@slow' },
  async ({ page, platform }, testInfo) => {
    await platform.open(page);
    await commitDescriptions(platform, page, 2);
    await platform.open(page, 'history');
    const save = async (entry: string) => {
      const coming = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export, import, reset' }).click();
      await page.getByRole('menuitem', { name: entry }).click();
      const download = await coming;
      const path = testInfo.outputPath(download.suggestedFilename());
      await download.saveAs(path);
      return path;
    };
    const zip = await save('Export everything (zip)');
    const yaml = await save('Export the world as a seed (YAML)');
    expect((await readFile(zip)).subarray(0, 2).toString()).toBe('PK');
    expect(await readFile(yaml, 'utf8')).toContain('version 2');
    const before = await worldOf(platform, page);

    const reset = async (seed: 'Empty') => {
      await page.getByRole('button', { name: 'Export, import, reset' }).click();
      await page.getByRole('menuitem', { name: 'Reset to a seed ...' }).click();
      const dialog = page.getByRole('alertdialog');
      await dialog.getByRole('button', { name: /Seed/ }).click();
      await page.getByRole('option', { name: seed }).click();
      await expect(dialog).toContainText(/\d+ deleted\b/);
      await dialog.getByRole('button', { name: 'Reset the world' }).click();
      await expect(dialog).toBeHidden();
    };
    await reset('Empty');
    expect((await worldOf(platform, page)).length).toBeLessThan(before.length);
    // Passwords are never exported, so an import into a new world needs them.
    await writeFile(yaml, (await readFile(yaml, 'utf8')).replaceAll('<not exported>', 'a-password-of-its-own'));
    for (const file of [zip, yaml]) {
      await page.getByRole('button', { name: 'Export, import, reset' }).click();
      await page.getByRole('menuitem', { name: 'Import a file ...' }).click();
      const dialog = page.getByRole('alertdialog');
      await dialog.locator('input[type=file]').setInputFiles(file);
      await expect(dialog).toContainText('The file is valid.');
      await expect(dialog).toContainText(/Code of \d+ resources will run on this machine/);
      await expect(dialog.getByRole('list', { name: 'Code that will run' })).toContainText(
        'order-status (apiendpoint ',
      );
      await dialog.getByRole('button', { name: 'Import', exact: true }).click();
      await expect(dialog).toBeHidden();
      expect(await worldOf(platform, page)).toEqual(before);
      await reset('Empty');
    }
  },
);

test('a seed replaces the world, and that can be undone', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  await send(platform, page, 'POST', '/meta/root', { name: 'mine' });
  const before = await worldOf(platform, page);
  await platform.open(page, 'history?dialog=reset');
  const dialog = page.getByRole('alertdialog');
  await expect(dialog).toContainText('/mine');
  await dialog.getByRole('button', { name: 'Reset the world' }).click();
  await expect(page.getByText(/The world was reset/)).toBeVisible();
  expect(await worldOf(platform, page)).toEqual(before.filter((line) => !line.endsWith('/mine')));
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText(/was undone/)).toBeVisible();
  expect(await worldOf(platform, page)).toEqual(before);
});

/** 12 MB: more than the limit of a seed. */
const TOO_LARGE = Buffer.alloc(12 * 1024 * 1024, 'a: b # and so on\n');
const BAD_FILES = [
  ['picture.png', Buffer.from('no matter'), /is not supported/],
  ['nonsense.zip', Buffer.from('this is no zip'), /not a ZIP archive/],
  ['empty.zip', Buffer.alloc(0), /not a ZIP archive|empty/],
  ['broken.json', Buffer.from('{"version": 1,'), /JSON/i],
  ['prototype.json', Buffer.from('{"__proto__": {"polluted": true}}'), /forbidden prototype/],
  ['broken.yaml', Buffer.from('a: [1,\nb: }'), /line|YAML/i],
  [
    'bomb.yaml',
    Buffer.from(
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
        .split('')
        .map((k, i) => `${k}: &${k} [${Array(9).fill(`*${'abcdefghi'[i]}`)}]`)
        .join('\n')}`,
    ),
    /alias|unknown|Unrecognized|resources/i,
  ],
  ['other.yaml', Buffer.from('apiVersion: v1\nkind: Pod\n'), /format/],
  ['huge.yaml', TOO_LARGE, /MB|MiB|bytes|large/i],
] as const;

test('invalid files are rejected with the reason, and nothing is lost', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page);
  const before = await newestOf(platform, page);
  await platform.open(page, 'history?dialog=import');
  const dialog = page.getByRole('alertdialog');
  for (const [name, buffer, reason] of BAD_FILES) {
    await dialog.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
    await expect(dialog.getByRole('alert'), name).toContainText(reason);
    await expect(dialog.getByRole('button', { name: 'Import', exact: true }), name).toBeDisabled();
  }
  // A truncated archive.
  const zip = Buffer.from(await (await platform.fetch(page, 'GET', '/inspect/archive')).arrayBuffer());
  const half = { name: 'half.zip', mimeType: 'application/zip', buffer: zip.subarray(0, zip.length / 2) };
  await dialog.locator('input[type=file]').setInputFiles(half);
  await expect(dialog.getByRole('alert')).toContainText(/incomplete/);
  const bent = Buffer.from(zip);
  bent.fill(0x41, 200, 260);
  await dialog
    .locator('input[type=file]')
    .setInputFiles({ name: 'bent.zip', mimeType: 'application/zip', buffer: bent });
  await expect(dialog.getByRole('alert')).toContainText(/Nothing was changed/);
  expect(await newestOf(platform, page)).toBe(before);
  // A valid archive is accepted afterwards.
  await dialog
    .locator('input[type=file]')
    .setInputFiles({ name: 'good.zip', mimeType: 'application/zip', buffer: zip });
  await expect(dialog).toContainText('the world is already in this state');
});
