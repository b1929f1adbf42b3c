import { expectNoFaults } from './axe.ts';
import { expect, type Page, pressInTurn, test, type WindowPlatform } from './window.ts';

interface Named {
  id: string;
  name: string;
}

const palette = (page: Page) => page.getByRole('dialog', { name: 'Commands and resources' });
const statusBar = (page: Page) => page.getByRole('contentinfo');
const commits = (page: Page) => page.getByRole('grid', { name: 'Commits' }).getByRole('row');

/** Opens the palette, pastes a text, and runs the first result with that name. */
async function run(page: Page, typed: string, name: string | RegExp): Promise<void> {
  await page.keyboard.press('ControlOrMeta+k');
  await expect(palette(page)).toBeVisible();
  await page.keyboard.insertText(typed);
  const entry = palette(page).getByRole('option', { name }).first();
  await expect(entry).toBeVisible();
  await entry.click();
  await expect(palette(page)).toBeHidden();
}

async function make(platform: WindowPlatform, page: Page, path: string, body: object): Promise<Named> {
  const answer = await platform.send(page, 'POST', path, body);
  expect(answer.status, path).toBe(201);
  return answer.body as Named; // as the API document says
}

/** Counts how often the input refers to an entry that is no longer in the list; a screen reader then has nothing to read. */
const COUNT_LOST_ENTRIES = `new MutationObserver(() => {
  const id = document.querySelector('[role=dialog] input')?.getAttribute('aria-activedescendant');
  if (id && !document.getElementById(id)) globalThis.lostEntries = 1 + (globalThis.lostEntries ?? 0);
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['aria-activedescendant'] })`;

test('an entry under a moving pointer is not selected when the text that is being pasted removes it', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await platform.open(page);
  await page.evaluate(COUNT_LOST_ENTRIES);
  for (const offset of [0, 40, 80, 120]) {
    await page.mouse.move(600, 200 + offset);
    await page.keyboard.press('ControlOrMeta+k');
    await expect(palette(page)).toBeVisible();
    await Promise.all([page.mouse.move(600, 240 + offset), page.keyboard.insertText('zoe@example.com')]);
    await expect(palette(page).getByRole('status')).toContainText(/\d results?/);
    await page.keyboard.press('Escape');
    await expect(palette(page)).toBeHidden();
  }
  expect(await page.evaluate('globalThis.lostEntries ?? 0')).toBe(0);
});

test('the palette opens screens, finds resources, creates and switches', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'no-preference' });
  await platform.open(page);
  // A page, with the keyboard only.
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.type('pipel');
  await expect(palette(page).getByRole('option').first()).toContainText('Pipelines');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Pipelines', exact: true })).toBeVisible();
  await expect(palette(page)).toBeHidden();
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  // A resource by its name, and by its id.
  const { body } = await platform.send(page, 'GET', '/meta/demo/workspaces');
  const [workspace] = body as Named[];
  await run(page, workspace?.name ?? '', workspace?.name ?? '');
  await expect(page).toHaveURL(/\/ui\/resources\//);
  await platform.open(page);
  await run(page, workspace?.id ?? '', workspace?.name ?? '');
  await expect(page).toHaveURL(new RegExp(`/ui/resources/${workspace?.id}`));
  // An invocation by a word of its event, which is then repeated.
  await platform.call('/website/lead', { payload: { firstName: 'Zoe', lastName: 'Quill', email: 'zoe@example.com' } });
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.insertText('zoe@example.com');
  await expect(palette(page).getByRole('status')).toHaveText('4 results');
  await expectNoFaults(page, 'results of a search');
  await palette(page)
    .getByRole('option', { name: /^Invocation/ })
    .click();
  await expect(page).toHaveURL(/sel=/);
  await run(page, 'replay this', 'Replay this invocation');
  await expect(page).toHaveURL(/with=/);
  // A part of a screen.
  await run(page, 'tokens', 'API keys and access tokens');
  await expect(page.getByRole('tab', { name: 'Access' })).toHaveAttribute('aria-selected', 'true');
  await run(page, 'snapshot', 'Snapshots of the world');
  await expect(page.getByRole('dialog', { name: 'Snapshots' })).toBeVisible();
  await page.keyboard.press('Escape');
  // A command that creates a resource.
  await platform.open(page, `resources/${workspace?.id}`);
  await run(page, 'new environment', 'New environment');
  await expect(page).toHaveURL(/new=environments/);
  const dialog = page.getByRole('alertdialog', { name: 'New environment' });
  await expect(dialog.getByRole('textbox', { name: 'Name', exact: true })).toBeVisible();
  // A command that changes a setting.
  await platform.open(page, 'history');
  await run(page, 'dark', 'Dark theme');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await run(page, 'system', "The system's theme");
  await expect(page.locator('html')).not.toHaveAttribute('data-theme');
  // One Esc closes it regardless of the input; a search without results says so.
  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.insertText('xylophone');
  await expect(palette(page)).toContainText('No match.');
  await page.keyboard.press('Escape');
  await expect(palette(page)).toBeHidden();
  await expect(page).toHaveURL(/\/ui\/history/);
});

test('a scope filters every screen, is in the address, and survives navigation', async ({ page, platform }) => {
  await platform.open(page);
  const org = await make(platform, page, '/meta/root', { name: 'acme' });
  const workspace = await make(platform, page, '/meta/acme/workspaces', { name: 'shop' });
  const environment = await make(platform, page, `/meta/acme/workspaces/${workspace.id}/environments`, {
    name: 'live',
    properties: { environment_type: 'production' },
  });
  await platform.open(page, 'lambdas');
  await expect(page.getByText('contact-form').first()).toBeVisible();
  const choose = async (scopeLabel: string, name: string) => {
    await page.getByRole('button', { name: new RegExp(`^${scopeLabel}:`) }).click();
    await page.getByRole('menuitemradio', { name, exact: true }).click();
  };
  await choose('organization', 'acme');
  await expect(page).toHaveURL(new RegExp(`scope=${org.id}`));
  await expect(page.getByText('contact-form')).toHaveCount(0);
  await choose('workspace', 'shop');
  await choose('environment', 'live');
  await expect(page).toHaveURL(new RegExp(`scope=${environment.id}`));
  await expect(page.getByRole('group', { name: 'Scope of every page' })).toContainText('production');

  for (const letter of ['r', 'i', 'g', 'c', 't']) {
    await pressInTurn(page, 'g', letter);
    await expect(page).toHaveURL(new RegExp(`scope=${environment.id}`));
  }
  await page.reload();
  await expect(page.getByRole('button', { name: 'environment: live' })).toBeVisible();
  await expect(page.getByRole('navigation').getByRole('link', { name: /^Lambdas/ })).toContainText('0');
  await page.goBack();
  await choose('organization', 'All organizations');
  await expect(page).not.toHaveURL(/scope=/);
  await expect(page.getByRole('navigation').getByRole('link', { name: /^Lambdas/ })).not.toContainText(/^Lambdas0$/);
  // With a deleted scope, screens show everything, or the reason why not.
  await platform.open(page, 'lambdas?scope=00000000-0000-4000-8000-000000000000');
  await expect(page.getByRole('heading', { name: 'Lambdas' })).toBeVisible();
});

test('the status bar shows the actual state, and pauses and resumes live updates', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page);
  const status = async () =>
    (await platform.send(page, 'GET', '/inspect/status')).body as {
      store: { seq: number };
      processes: { processes: number };
    };
  const { store } = await status();
  await expect(statusBar(page)).toContainText(`saved, commit ${store.seq}`);
  await expect(statusBar(page)).toContainText('no container engine');
  await expect(statusBar(page)).toContainText('No telemetry');
  await make(platform, page, '/meta/root', { name: 'counted' });
  await expect(statusBar(page)).toContainText(`saved, commit ${store.seq + 1}`);
  // The rate is one of the last seconds.
  await expect(async () => {
    expect((await platform.call('/website/orders/1001')).status).toBe(200);
    await expect(statusBar(page)).toContainText(/[1-9][\d.]* events\/s/, { timeout: 3_000 });
  }).toPass();
  const { processes } = (await status()).processes;
  expect(processes).toBeGreaterThan(0);
  await expect(statusBar(page)).toContainText(`${processes} child process`);
  await statusBar(page).getByRole('link', { name: /saved/ }).click();
  await expect(page.getByRole('heading', { name: 'History', exact: true })).toBeVisible();

  await expect(commits(page).nth(1)).toContainText('created counted');
  const before = await commits(page).count();
  await page.keyboard.press('p');
  await expect(statusBar(page)).toContainText('paused');
  await make(platform, page, '/meta/root', { name: 'held' });
  await expect(statusBar(page)).toContainText(/paused, \d+ waiting/);
  expect(await commits(page).count()).toBe(before);
  await statusBar(page).getByRole('button', { name: 'Resume live updates' }).click();
  await expect(commits(page)).toHaveCount(before + 1);
  await expect(statusBar(page)).toContainText('live');
  await statusBar(page).getByRole('button', { name: 'Pause live updates' }).click();
  await expect(statusBar(page)).toContainText('paused');
  await run(page, 'pause', 'Pause or resume live updates');
  await expect(statusBar(page).getByText('live', { exact: true })).toBeVisible();
});

test('addresses can be copied in a wide and in a narrow window, and the palette exports a world', {
  tag: '@slow',
}, async ({ page, platform, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await platform.open(page);
  const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
  await page.getByRole('banner').getByRole('button', { name: 'Copy address of gateway' }).click();
  await expect.poll(clipboard).toBe(platform.ready.gatewayUrl);
  await page.setViewportSize({ width: 900, height: 600 });
  await page.getByRole('button', { name: 'Addresses' }).click();
  await page.getByRole('menuitem', { name: /API/ }).click();
  await expect.poll(clipboard).toBe(platform.ready.baseUrl);
  await run(page, 'gateway address', 'Copy the address of gateway');
  await expect.poll(clipboard).toBe(platform.ready.gatewayUrl);

  const coming = page.waitForEvent('download');
  await run(page, 'export', 'Export everything (zip)');
  expect((await coming).suggestedFilename()).toBe('terrarium.zip');
});

test('axe finds no violation around the screens, light and dark', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page, 'history');
  await page.keyboard.press('p');
  await expect(statusBar(page)).toContainText('paused');
  await expectNoFaults(page, 'paused');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible();
  await expectNoFaults(page, 'help');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: /^organization:/ }).click();
  await expect(page.getByRole('menu')).toBeVisible();
  await expectNoFaults(page, 'the scope');
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 900, height: 600 });
  await expectNoFaults(page, 'a narrow window');
  await platform.end('SIGTERM');
  await expect(page.getByText('Disconnected.')).toBeVisible();
  await expectNoFaults(page, 'disconnected');
});
