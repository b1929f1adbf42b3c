import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { openSignInPage } from '../server/cli/show-window.ts';
import { expectNoFaults, waitUntilStill } from './axe.ts';
import { SCREENS } from './screens.ts';
import { expect, pressInTurn, test, withoutPrefetching } from './window.ts';

/** Markup that has no effect as text. If a page interprets it as HTML, it sets a global variable that the test sees. */
const SCRIPT = `<img src=x onerror="globalThis.hasRun=true"><script>globalThis.hasRun=true</script>`;
const FORM = { payload: { firstName: SCRIPT, lastName: SCRIPT, company: SCRIPT, email: 'a@b.c', message: SCRIPT } };

test('the printed address signs in once, and the code disappears from the address', async ({
  page,
  browser,
  platform,
}) => {
  await page.goto(platform.ready.windowUrl);
  await expect(page.getByRole('heading', { name: 'Home', exact: true })).toBeVisible();
  expect(page.url()).not.toContain('code=');
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', domain: 'terrarium.localhost' });

  const stranger = await browser.newPage();
  await stranger.goto(platform.ready.windowUrl);
  await expect(stranger.getByText(/already been used|expired/)).toBeVisible();
  await stranger.getByLabel(/user/i).fill('root');
  await stranger.getByLabel(/password/i).fill('wrong');
  await stranger.getByRole('button', { name: /sign in/i }).click();
  await expect(stranger.getByRole('alert')).toContainText('wrong password');
  await stranger.getByLabel(/password/i).fill('terrarium');
  await stranger.getByRole('button', { name: /sign in/i }).click();
  await expect(stranger.getByRole('heading', { name: 'Home' })).toBeVisible();
  await stranger.close();
});

test('the sign-in file of a browser signs in, and is removed', async ({ browser, platform }) => {
  const signIn = await openSignInPage(() => platform.ready.windowUrl, process.env);
  const page = await browser.newPage();
  try {
    await page.goto(signIn.url);
    await expect(page.getByRole('heading', { name: 'Home', exact: true })).toBeVisible();
    expect(page.url()).toBe(`${platform.windowOrigin}/ui/`);
    await signIn.used;
    expect(existsSync(fileURLToPath(signIn.url))).toBe(false);
  } finally {
    await page.close();
    await signIn.close();
  }
});

test.describe('the first view', () => {
  test.use({ discardsPage: true });

  test('takes less than 300 kB of scripts, and no editor', async ({ page, platform }) => {
    await withoutPrefetching(page);
    const scripts: Promise<Buffer>[] = [];
    page.on('response', (response) => {
      if (response.request().resourceType() === 'script') scripts.push(response.body());
    });
    await platform.open(page);
    const bodies = await Promise.all(scripts);
    const bytes = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0);
    expect(bytes).toBeGreaterThan(50_000); // else nothing was counted
    expect(bytes).toBeLessThan(300_000);
    expect(bodies.some((body) => body.includes('cm-editor'))).toBe(false);
  });
});

test('changes require a session and the same origin', async ({ page, platform }) => {
  await platform.open(page);
  const { baseUrl } = platform.ready;
  expect((await fetch(`${baseUrl}/meta/root`, { method: 'POST', body: '{}' })).status).toBe(401);
  const [cookie] = await page.context().cookies();
  const forged = await fetch(`${baseUrl}/meta/root`, {
    method: 'POST',
    body: JSON.stringify({ name: 'evil' }),
    headers: {
      Cookie: `${cookie?.name}=${cookie?.value}`,
      'X-Terrarium-Session-Key': await page.evaluate<string>("localStorage.getItem('terrarium.session-key')"),
      'Content-Type': 'application/json',
      Origin: 'https://evil.example',
    },
  });
  expect(forged.status).toBe(403);
});

test('a server on another port of the host gets the cookie, and cannot use it', async ({ page, platform }) => {
  await platform.open(page);
  const got: string[] = [];
  const published = createServer(({ headers }, response) => {
    got.push(headers.cookie ?? '');
    response.setHeader('Content-Type', 'text/html').end('<title>a container</title>');
  }).listen(0, '127.0.0.1');
  await once(published, 'listening');
  const { port } = published.address() as AddressInfo; // a server on a TCP port has one
  try {
    const other = await page.context().newPage();
    await other.goto(`http://terrarium.localhost:${port}/`);
    await expect(other).toHaveTitle('a container');
    expect(got[0]).toContain('terrarium_session_'); // so it is: cookies ignore ports
    expect(await other.evaluate('JSON.stringify({ ...localStorage })')).toBe('{}');
    const { baseUrl } = platform.ready;
    const headers = { Cookie: got[0] ?? '', Origin: baseUrl, 'Sec-Fetch-Site': 'same-origin' };
    for (const path of ['/meta/root', '/inspect/session', '/inspect/archive', '/inspect/events'])
      expect((await fetch(`${baseUrl}${path}`, { headers })).status, path).toBe(401);
    expect((await fetch(`${baseUrl}/meta/sync`, { method: 'POST', headers })).status).toBe(401);
    await fetch(`${baseUrl}/inspect/session`, { method: 'DELETE', headers });
    await page.reload();
    await expect(page.getByRole('contentinfo')).toContainText('live');
  } finally {
    published.close();
  }
});

test('a second tab has the session of the first, and an unknown address in it says so and links to screens', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await platform.open(page);
  const second = await page.context().newPage();
  await second.goto(`${platform.windowOrigin}/ui/leads`);
  await expect(second.getByRole('contentinfo')).toContainText('live');

  await platform.open(second, 'no-such-screen');
  await expect(second.getByRole('main')).toContainText(/no such|not found|nothing here/i);
  await platform.open(second, 'resources/00000000-0000-4000-8000-000000000000');
  await expect(second.getByRole('main')).toContainText(/not found|no longer|deleted/i);
});

test('an expired session asks to sign in, and the same user continues with what was typed', async ({
  page,
  platform,
}) => {
  const signIn = page.getByRole('alertdialog', { name: 'Sign in to Terrarium' });
  const dialog = page.getByRole('dialog', { name: 'Send a request' });
  const signInAs = async (name: string) => {
    await page.context().clearCookies();
    await expect(signIn).toBeVisible();
    await signIn.getByLabel('User name').fill(name);
    await signIn.getByLabel('Password').fill('terrarium');
    await signIn.getByRole('button', { name: 'Sign in' }).click();
    await expect(signIn).toBeHidden();
  };
  await platform.open(page, 'gateway');
  await platform.send(page, 'POST', '/meta/root/users', { name: 'vera', properties: { password: 'terrarium' } });
  await page.getByRole('button', { name: 'Send a request', exact: true }).click();
  await dialog.getByLabel('Body').fill('{"typed": "before"}');
  await page.context().clearCookies();
  await expect(signIn).toBeVisible();
  await expect(signIn.getByLabel('User name')).toHaveValue('root');
  await expect(signIn.getByLabel('Password')).toBeFocused();
  for (const key of ['Tab', 'Tab', 'Tab', 'Escape', 'Escape', 'ControlOrMeta+k']) await page.keyboard.press(key);
  await expect(signIn.locator(':focus')).toHaveCount(1);
  await expectNoFaults(page, 'the sign-in page above a dialog');
  // A dialog that opens later, for example after a response, opens behind it.
  await page.locator('button', { hasText: /^Save$/ }).dispatchEvent('click');
  await expect(page.locator('[role=dialog]')).toHaveCount(2);
  await expect(signIn.locator(':focus')).toHaveCount(1);
  await signInAs('root');
  await page.getByRole('dialog', { name: 'Save the request' }).getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog.getByLabel('Body')).toHaveValue('{"typed": "before"}');
  await expect(page).toHaveTitle(/Gateway/);
  // Another user must not see it.
  await signInAs('vera');
  await expect(page.getByRole('button', { name: 'Signed in as vera' })).toBeVisible();
  await expect(dialog).toHaveCount(0);
});

test('screens, a list and a resource are reached by keyboard', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.call('/website/orders/1001');
  await platform.call('/website/orders/1001');
  await platform.open(page);
  await pressInTurn(page, 'g', 'i');
  await expect(page.getByRole('heading', { name: 'Invocations' })).toBeVisible();
  await expect(page.getByRole('grid', { name: 'Invocations' }).getByRole('row')).toHaveCount(3);
  await page.keyboard.press('j');
  await expect(page.getByRole('tab', { name: 'Event' })).toBeVisible();
  const first = new URL(page.url()).searchParams.get('sel');
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => new URL(page.url()).searchParams.get('sel')).not.toBe(first);
  await page.keyboard.press('ArrowUp');
  await expect.poll(() => new URL(page.url()).searchParams.get('sel')).toBe(first);
  await page.keyboard.press('/');
  await page.keyboard.type('status:ok');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');

  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('order-status');
  await expect(page.getByRole('option').first()).toContainText('order-status');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/ui\/(lambdas|resources)\//);

  await page.keyboard.press('?');
  await expect(page.getByRole('dialog')).toContainText('Pause or resume live updates');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  // In text fields, shortcuts are text.
  await pressInTurn(page, 'g', 'l');
  await expect(page.getByRole('heading', { name: 'Lambdas' })).toBeVisible();
});

const SCREENS_WITHOUT_ROWS = ['', 'containers', 'help', 'mails', 'settings'];

test('axe finds no violation on any screen and any tab of its details, light and dark', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.call('/website/orders/1001');
  await platform.call('/website/lead', FORM);
  await platform.call('/website/lead', 'no object');
  await platform.open(page);
  await platform.send(page, 'POST', '/inspect/pipelines/demo', {});
  for (const screen of SCREENS) {
    await platform.open(page, screen);
    // The frame is the same around all screens.
    await expectNoFaults(page, `/ui/${screen}`, screen === SCREENS[0] ? ':root' : 'main');
    if (SCREENS_WITHOUT_ROWS.includes(screen)) continue;
    await page.getByRole('grid').getByRole('row').nth(1).or(page.getByRole('treeitem').last()).first().click();
    await waitUntilStill(page);
    await expectNoFaults(page, `a row of ${screen}`, 'main');
    for (const tab of await page.getByRole('main').getByRole('tab').all()) {
      await tab.click();
      await waitUntilStill(page);
      await expectNoFaults(page, `${screen}, ${await tab.textContent()}`, 'main');
    }
  }
  await platform.open(page, 'invocations');
  await page.getByRole('grid', { name: 'Invocations' }).getByRole('row').nth(1).click();
  await expect(page.getByRole('button', { name: 'Replay', exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Replay with edits' }).first().click();
  await expect(page.getByRole('dialog').locator('.cm-content')).toBeVisible();
  await expectNoFaults(page, 'the editor of an event');
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+k');
  await expect(page.getByRole('dialog')).toBeVisible();
  await expectNoFaults(page, 'the palette');
});

test('a script from any source is shown as text', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.call('/website/lead', FORM);
  await platform.open(page);
  const name = `x<img onerror="globalThis.hasRun=true" src=x>`.slice(0, 60);
  const { body } = await platform.send(page, 'GET', '/meta/demo/lambdas?expand=true');
  const [lambda] = body as { id: string }[];
  await platform.send(page, 'PATCH', `/meta/demo/lambdas/${lambda?.id}`, [
    { op: 'add', path: '/description', value: `${SCRIPT}${name}` },
  ]);
  for (const screen of [...SCREENS, `resources/${lambda?.id}`, `lambdas/${lambda?.id}`]) {
    await platform.open(page, screen);
    const row = page.getByRole('grid').getByRole('row').nth(1);
    if (await row.isVisible()) await row.click();
    await waitUntilStill(page);
    expect(await page.evaluate(() => 'hasRun' in globalThis), screen).toBe(false);
  }
  await platform.open(page, 'leads');
  await expect(page.getByText('<img src=x').first()).toBeVisible();
});

test.describe('after a crash of the platform', () => {
  test.use({ ownProcess: true });

  test('the window continues without a reload after the platform has crashed and restarted', async ({
    page,
    platform,
  }) => {
    await platform.call('/website/orders/1001');
    await platform.open(page, 'invocations');
    const rows = page.getByRole('grid', { name: 'Invocations' }).getByRole('row');
    await expect(rows).toHaveCount(2);
    const records = join(platform.dataDir, 'records');
    const onDisk = async () => {
      const names = (await readdir(records)).filter((name) => name.startsWith('invocations-'));
      return Promise.all(names.map((name) => readFile(join(records, name), 'utf8')));
    };
    await expect.poll(onDisk).toEqual([expect.stringContaining('order-status')]);
    await platform.end('SIGKILL');
    await expect(page.getByText('Disconnected.')).toBeVisible();
    await platform.start();
    // The session survives the crash, without another sign-in.
    await expect(page.getByText('Disconnected.')).toBeHidden();
    await expect(page.getByRole('button', { name: 'Signed in as root' })).toBeVisible();
    // Invocations from before the crash are listed together with new ones.
    await expect(rows).toHaveCount(2);
    await platform.call('/website/orders/1001');
    await expect(rows).toHaveCount(3);
  });
});
