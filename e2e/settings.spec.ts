import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { basic, bearer, send } from '../server/testing/client.ts';
import { expectNoFaults } from './axe.ts';
import { PlatformProcess } from './platform-process.ts';
import { SCREENS } from './screens.ts';
import { expect, type Page, pressInTurn, test } from './window.ts';

const openTab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true }).click();

const BACKGROUNDS = { light: 'rgb(250, 250, 247)', dark: 'rgb(13, 19, 16)' };

test('a chosen theme is saved, and the system theme is followed', async ({ page, platform }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await platform.open(page, 'settings');
  const themes = page.getByRole('radiogroup', { name: 'Theme' });
  const expectTheme = (theme: 'light' | 'dark') =>
    expect(page.locator('body')).toHaveCSS('background-color', BACKGROUNDS[theme]);
  await expectTheme('light');
  await themes.getByRole('radio', { name: 'Dark' }).click();
  await expectTheme('dark');
  await page.reload();
  await expect(themes.getByRole('radio', { name: 'Dark' })).toBeChecked();
  await expectTheme('dark');
  await themes.getByRole('radio', { name: 'Light' }).click();
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.reload();
  await expectTheme('light');
  await themes.getByRole('radio', { name: 'System' }).click();
  await expectTheme('dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await expectTheme('light');
});

test('disabled single-letter shortcuts do nothing, and all others work', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page, 'settings');
  const letters = page.getByRole('switch', { name: /single-key shortcuts/ });
  await expect(letters).toBeChecked();
  await letters.focus();
  await page.keyboard.press('Space');
  await expect(letters).not.toBeChecked();
  await page.reload();
  await expect(letters).not.toBeChecked();
  await page.getByRole('heading', { name: 'Settings' }).click();
  for (const key of ['g', 'h', 'p', '?', '/', 'j']) await page.keyboard.press(key);
  await expect(page).toHaveURL(/\/ui\/settings/);
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect(page.getByRole('contentinfo').getByText('live', { exact: true })).toBeVisible();
  await page.keyboard.press('ControlOrMeta+k');
  await expect(page.getByRole('dialog', { name: 'Commands and resources' })).toBeVisible();
  await page.keyboard.press('Escape');

  await letters.focus();
  await page.keyboard.press('Space');
  await pressInTurn(page, 'g', 'h');
  await expect(page.getByRole('heading', { name: 'Home', exact: true })).toBeVisible();
});

test('each setting shows its source: a file, a variable or a flag', { tag: '@slow' }, async ({ page }) => {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-origins-'));
  await writeFile(
    join(folder, 'terrarium.json'),
    JSON.stringify({ seed: 'empty', fsync: 'never', limits: { logLines: 1, maxInstances: 3 } }),
  );
  const platform = new PlatformProcess(folder, ['--containers-engine', 'none', '--limits-log-lines', '123'], {
    cwd: folder,
    env: { TERRARIUM_FSYNC: 'always', TERRARIUM_SCM_TOKEN: 'for-nobody-to-see' },
  });
  await platform.start();
  try {
    await platform.open(page, 'settings?tab=platform');
    const table = page.getByRole('table', { name: 'Settings' });
    const row = (key: string) => table.getByRole('row').filter({ has: page.getByText(key, { exact: true }) });
    await expect(row('seed')).toContainText(/empty.*file.*terrarium\.json/s);
    await expect(row('fsync')).toContainText(/always.*variable.*TERRARIUM_FSYNC/s);
    await expect(row('limits.logLines')).toContainText(/123.*flag.*--limits-log-lines/s);
    await expect(row('limits.maxInstances')).toContainText(/3.*file/s);
    await expect(row('history.maxBytes')).toContainText(/268435456 \(\d+ MB\).*default.*--history-max-bytes/s);
    await expect(row('publicBaseUrl')).toContainText('not set');
    await expect(row('scmToken')).toContainText('****');
    await expect(page.getByText('for-nobody-to-see')).toHaveCount(0);

    await page.getByText('Show changed settings only').click();
    await expect(row('history.maxBytes')).toBeHidden();
    await expect(row('fsync')).toBeVisible();
    await page.getByRole('searchbox', { name: 'Filter the settings' }).fill('log lines');
    await expect(table.getByRole('row')).toHaveCount(2);
    await page.reload();
    await expect(table.getByRole('row')).toHaveCount(2);
    await page.getByRole('searchbox', { name: 'Filter the settings' }).fill('no such thing');
    await page.getByRole('button', { name: 'Clear the query' }).click();
    await expect(row('seed')).toBeVisible();

    // Sizes are read from the files, limits from the configuration.
    const onDisk = page.getByRole('table', { name: 'On disk' });
    await expect(onDisk.getByRole('row', { name: /^History/ })).toContainText(/of 100,000.*of 268 MB/s);
    await expect(onDisk.getByRole('row', { name: /^World/ })).toContainText(/\d (k)?B/);
    await expect(page.getByRole('table', { name: 'In memory' }).getByRole('row', { name: /log/ })).toContainText('123');
    await expect(page.getByRole('region', { name: 'Store' })).toContainText(folder);
    await expect(page.getByRole('region', { name: 'Addresses' })).toContainText(platform.ready.gatewayUrl);
  } finally {
    await platform.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  }
});

test('a platform that cannot record in files shows the reason', { tag: '@slow' }, async ({ page }) => {
  const folder = await mkdtemp(join(tmpdir(), 'terrarium-no-records-'));
  const platform = new PlatformProcess(folder, ['--seed', 'empty', '--containers-engine', 'none']);
  await mkdir(platform.dataDir, { recursive: true });
  await writeFile(join(platform.dataDir, 'records'), '');
  await platform.start();
  try {
    await platform.open(page, 'settings?tab=platform');
    await expect(page.getByRole('contentinfo')).toContainText('some data is not saved');
    await expect(page.getByRole('region', { name: 'Store' })).toContainText(/recorded in memory only.*not a directory/);
  } finally {
    await platform.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  }
});

test('a created key is accepted, and a revoked one is not', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page, 'settings');
  await openTab(page, 'Access');
  await page.getByRole('button', { name: 'New API key' }).click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByRole('button', { name: /User/ }).click();
  await page.getByRole('option', { name: 'ada.byrne' }).click();
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  const value = async (name: string) =>
    (await dialog.locator(`dt:has-text("${name}") + dd span`).first().innerText()).trim();
  const [key, secret] = [await value('Key'), await value('Secret')];
  const currentUser = () => send('GET', `${platform.ready.baseUrl}/meta/users/self`, { auth: basic(key, secret) });
  expect(await currentUser()).toMatchObject({ status: 200, body: { name: 'ada.byrne' } });
  await dialog.getByRole('button', { name: 'Done, I copied it' }).click();

  const row = page.getByRole('table', { name: 'API keys' }).getByRole('row', { name: new RegExp(key) });
  await expect(row).toContainText('ada.byrne');
  await expect(page.getByText(secret)).toHaveCount(0);
  await row.getByRole('button', { name: /Revoke key/ }).click();
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: /^Revoke/ })
    .click();
  await expect(row).toBeHidden();
  expect((await currentUser()).status).toBe(401);
});

test('a created token is accepted, a revoked one is not, and revoking your own ends the session', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await platform.open(page, 'settings?tab=access');
  await page.getByRole('button', { name: 'New access token' }).click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  const token = (await dialog.locator('dt:has-text("Token") + dd span').first().innerText()).trim();
  const currentUser = () => send('GET', `${platform.ready.baseUrl}/meta/users/self`, { auth: bearer(token) });
  expect(await currentUser()).toMatchObject({ status: 200, body: { name: 'root' } });
  await page.keyboard.press('Escape');
  const tokens = page.getByRole('table', { name: 'Access tokens' });
  const otherTokens = tokens.getByRole('row').filter({ hasNotText: 'this window' });
  await otherTokens.getByRole('button', { name: /Revoke token/ }).click();
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: /^Revoke/ })
    .click();
  await expect(otherTokens.getByRole('button')).toHaveCount(0);
  expect((await currentUser()).status).toBe(401);

  await tokens
    .getByRole('row', { name: /this window/ })
    .getByRole('button', { name: /Revoke token/ })
    .click();
  await expect(page.getByRole('alertdialog')).toContainText('have to sign in again');
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: /^Revoke/ })
    .click();
  await expect(page.getByRole('heading', { name: 'Sign in to Terrarium' })).toBeVisible();
});

test('signing out ends the session', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page, 'settings');
  const cookies = await page.context().cookies();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('heading', { name: 'Sign in to Terrarium' })).toBeVisible();
  await page.context().addCookies(cookies);
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Sign in to Terrarium' })).toBeVisible();
  await page.getByLabel(/password/i).fill('terrarium');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await openTab(page, 'Access');
  // The token of the previous session was revoked with it.
  await expect(page.getByRole('table', { name: 'Access tokens' }).getByRole('row')).toHaveCount(2);
});

test('other users see their own keys, and the reason why no others appear', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page);
  const userReply = await platform.send(page, 'POST', '/meta/demo/users', {
    name: 'visitor',
    properties: { password: 'a-visitor-comes' },
  });
  expect(userReply.status).toBe(201);
  await platform.open(page, 'settings');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel(/user name/i).fill('visitor');
  await page.getByLabel(/password/i).fill('a-visitor-comes');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await openTab(page, 'Access');
  await expect(page.getByText('No keys: programs sign in with tokens only.')).toBeVisible();
  await expect(page.getByRole('table', { name: 'Access tokens' }).getByRole('row')).toHaveCount(2);
  await page.getByRole('button', { name: 'New API key' }).click();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('button', { name: 'Done, I copied it' }).click();
  await expect(page.getByRole('table', { name: 'API keys' }).getByRole('row')).toHaveCount(2);
  await openTab(page, 'Platform');
  await expect(page.getByRole('tabpanel')).toContainText('Only root can do this.');
});

test('axe finds no violation on any tab of the settings, light and dark', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page, 'settings');
  for (const tab of ['Window', 'Platform', 'Access']) {
    await openTab(page, tab);
    await expect(page.getByRole('tabpanel').getByRole('heading').first()).toBeVisible();
    await expectNoFaults(page, tab);
  }
  await platform.open(page, 'settings?tab=access');
  await page.getByRole('button', { name: 'New access token' }).click();
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(page.getByText('The token is shown only once')).toBeVisible();
  await expectNoFaults(page, 'a new token');
});

test('root views as another user: every screen names what it withholds, none is blank, and the view ends', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await platform.open(page);
  await page.getByRole('button', { name: 'Signed in as root' }).click();
  await page.getByRole('menuitem', { name: 'View as…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /User/ }).click();
  await page.getByRole('option', { name: /^ada\.byrne/ }).click();
  await dialog.getByRole('button', { name: 'View as user', exact: true }).click();
  await expect(page.getByText('Viewing as ada.byrne (read-only)')).toBeVisible();
  for (const screen of SCREENS) {
    await platform.open(page, screen);
    await expect(page.getByRole('main').getByRole('heading').first()).toBeVisible();
    await expect(page.getByRole('main'), screen).not.toContainText("Failed: 'org.view'");
  }
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(page.getByText('(read-only)')).toBeHidden();
});
