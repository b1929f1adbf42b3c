import type { Locator } from '@playwright/test';
import { lineOf, paneOf, pasteJson, tabOf, treeOf, windowClient } from './resources-window.ts';
import { expect, type Page, test, type WindowPlatform } from './window.ts';

const SCRIPT = `<img src=x onerror="globalThis.hasRun=true"><script>globalThis.hasRun=true</script>`;
const description = (page: Page) => paneOf(page).getByRole('textbox', { name: 'Description', exact: true });

/** Opens the lambda of the web form on the resources screen. */
async function openLambda(platform: WindowPlatform, page: Page) {
  await platform.open(page);
  const client = windowClient(platform, page);
  const { id } = await client.find('lambdas', 'contact-form');
  await platform.open(page, `resources/${id}`);
  return { ...client, id };
}

/** Clicks a button that needs the expired session; if the page has noticed the expiry, the sign-in page covers the button. */
async function notice(button: Locator) {
  await button.click({ timeout: 3_000 }).catch(() => undefined);
}

async function signInAgain(page: Page) {
  await expect(page.getByRole('heading', { name: 'Sign in to Terrarium' })).toBeVisible();
  await page.getByLabel(/password/i).fill('terrarium');
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('of two windows that edit one resource, changes of one are kept, conflicts are asked about, nothing is overwritten', {
  tag: '@slow',
}, async ({ page, context, platform }) => {
  const { id, read } = await openLambda(platform, page);
  const other = await context.newPage();
  await platform.open(other, `resources/${id}`);

  // Own changes: the description and the memory; nothing is sent yet.
  await description(page).fill('Mine');
  await paneOf(page).getByRole('textbox', { name: 'memory' }).fill('256');
  await page.keyboard.press('Tab');
  await expect(paneOf(page).getByRole('button', { name: 'Review 2 changes' })).toBeEnabled();

  // Changes of another user: the timeout, without a conflict, then the description, with a conflict.
  await paneOf(other).getByRole('textbox', { name: 'timeout' }).fill('20');
  await other.keyboard.press('Tab');
  await description(other).fill('Theirs');
  await paneOf(other).getByRole('button', { name: 'Review 2 changes' }).click();
  await other.getByRole('dialog').getByRole('button', { name: 'Apply 2 changes' }).click();
  await expect(other.getByRole('dialog')).toBeHidden();

  await expect(paneOf(page).getByText('Someone else changed the same property')).toBeVisible();
  await expect(description(page)).toHaveValue('Mine');
  await paneOf(page).getByRole('button', { name: 'Resolve conflict' }).click();
  const dialog = page.getByRole('dialog', { name: 'Conflicting changes to contact-form' });
  await expect(dialog.getByRole('group', { name: '/description' })).toContainText('Theirs');
  await expect(dialog.getByRole('button', { name: 'Continue to review' })).toBeDisabled();
  await dialog.getByRole('radio', { name: 'Mine' }).check();
  await dialog.getByRole('button', { name: 'Continue to review' }).click();
  await expect(page.getByRole('list', { name: 'Operations' })).not.toContainText('timeout');
  expect((await read(id)).description).toBe('Theirs');
  await page.getByRole('button', { name: 'Apply 2 changes' }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  expect(await read(id)).toMatchObject({ description: 'Mine', properties: { memory: 256, timeout: 20 } });
  await expect(description(other)).toHaveValue('Mine');
  await other.close();
});

test('a change between review and apply is not overwritten', { tag: '@slow' }, async ({ page, platform }) => {
  const { id, send, read } = await openLambda(platform, page);
  await description(page).fill('Mine');
  await paneOf(page).getByRole('button', { name: 'Review 1 change' }).click();
  const apply = page.getByRole('button', { name: 'Apply 1 change' });
  await expect(apply).toBeVisible();
  await send('PATCH', `/meta/demo/lambdas/${id}`, [{ op: 'add', path: '/description', value: 'Theirs' }]);
  if (await apply.isVisible()) await apply.click({ timeout: 2000 }).catch(() => undefined);
  await expect(
    page
      .getByText('Conflicting changes to contact-form')
      .or(page.getByText(/Someone else changed/))
      .first(),
  ).toBeVisible();
  expect((await read(id)).description).toBe('Theirs');
});

test('a resource deleted during an edit is reported, and the draft returns when the resource is restored', {
  tag: '@slow',
}, async ({ page, platform }) => {
  const { id, send } = await openLambda(platform, page);
  await description(page).fill('Never sent');
  await send('DELETE', `/meta/demo/lambdas/${id}?force=true`);
  await expect(paneOf(page).getByText('contact-form was deleted')).toBeVisible();
  await expect(paneOf(page).getByText(/Your unsaved changes are kept/)).toBeVisible();
  await expect(lineOf(page, 'contact-form lambda')).toBeHidden();
  await paneOf(page).getByRole('button', { name: 'Revert' }).first().click();
  await expect(description(page)).toHaveValue('Never sent');
  await expect(paneOf(page).getByRole('button', { name: 'Review 1 change' })).toBeEnabled();
});

test('5 MB of JSON are pasted, applied and shown, the window stays usable, and errors of the server appear', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await platform.open(page);
  const { find, read } = windowClient(platform, page);
  const { id } = await find('lambdas', 'contact-form');
  const { provider, runtime, code_type, code, handler } = (await read(id)).properties;
  const written = (variables: number) => {
    const env = Object.fromEntries(Array.from({ length: variables }, (_, index) => [`V${index}`, 'x'.repeat(1000)]));
    const properties = { provider, runtime, code_type, code, handler, env };
    return JSON.stringify({ name: 'contact-form', properties }, null, 2);
  };
  const pane = paneOf(page);

  // More than the limit of a request.
  await platform.open(page, `resources/${id}?tab=json`);
  await pasteJson(page, written(12_000));
  await expect(pane.getByText(/too much to edit here/)).toBeVisible();
  await pane.getByRole('button', { name: /^Review/ }).click();
  await page.getByRole('button', { name: /^Apply/ }).click();
  await expect(page.getByRole('dialog').getByRole('alert')).toContainText(/request body is larger than/);
  await page.getByRole('button', { name: 'Back' }).click();
  await pane.getByRole('button', { name: 'Discard' }).click();
  await expect(pane.locator('.cm-content')).toContainText('contact-form');

  await pasteJson(page, written(5000));
  await expect(pane.getByText(/5\.\d MB of JSON are too much to edit here/)).toBeVisible();
  await pane.getByRole('button', { name: /^Review/ }).click();
  await expect(page.getByRole('dialog')).toContainText('Too large to compare here');
  await expect(page.getByRole('dialog').getByRole('list', { name: 'Operations' })).toContainText(/and 4,5\d\d more/);
  await page.getByRole('button', { name: /^Apply/ }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
  expect(Object.keys((await read(id)).properties.env ?? {})).toHaveLength(5000);
  await tabOf(page, 'Form').click();
  await expect(pane.getByText('5,000 entries: see JSON.')).toBeVisible();
  await description(page).fill('Still writable');
  await expect(pane.getByRole('button', { name: 'Review 1 change' })).toBeEnabled();
});

test('a script in any field of any resource is shown as text', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  const { send, find } = windowClient(platform, page);
  const environment = await find('environments', 'integration');
  const texts = { description: SCRIPT, tags: [SCRIPT], variables: { [SCRIPT]: SCRIPT } };
  const make = async (path: string, body: object) =>
    (await send('POST', `/meta/demo${path}`, { ...texts, ...body })) as { id: string; properties: { items?: unknown } }; // as the document says
  const inside = `/environments/${environment.id}`;
  const lambdas = (await send('GET', '/meta/root/providers?expand=true')) as { id: string; name: string }[]; // as the document says
  const provider = { id: lambdas.find(({ name }) => name === 'default-lambda')?.id };
  const docker = { id: lambdas.find(({ name }) => name === 'default-docker')?.id };
  const workspace = await make('/workspaces', { name: SCRIPT, properties: { env: { A: SCRIPT } } });
  const lambda = await make(`${inside}/lambdas`, {
    name: SCRIPT,
    properties: {
      provider,
      runtime: SCRIPT,
      code_type: 'inline',
      code: SCRIPT,
      handler: SCRIPT,
      env: { A: SCRIPT },
      headers: { [SCRIPT]: SCRIPT },
    },
  });
  const user = await make('/users', {
    name: SCRIPT,
    properties: { password: 'a long one', firstName: SCRIPT, lastName: SCRIPT, email: SCRIPT, phoneNumber: SCRIPT },
  });
  const group = await make('/groups', { name: SCRIPT, properties: { users: [user.id] } });
  const policy = await make('/policies', { name: SCRIPT });
  const rule = await make(`/policies/${policy.id}/rules`, {
    name: SCRIPT,
    resource_type: 'Platform::Resource::Rule::Event',
    properties: { match_actions: [{ action: 'lambda.update.post' }], lambda: lambda.id },
  });
  const container = await make(`${inside}/containers`, {
    name: 'scripted',
    properties: {
      provider: docker,
      container_type: 'DOCKER',
      image: 'scripted:1', // a script is no image reference
      cmd: SCRIPT,
      user: SCRIPT,
      args: [SCRIPT],
      env: { A: SCRIPT },
      labels: { [SCRIPT]: SCRIPT },
      constraints: [SCRIPT],
    },
  });
  const secret = await make(`${inside}/secrets`, {
    name: 'scripted',
    properties: { provider: docker, items: [{ key: SCRIPT, value: SCRIPT }] },
  });
  for (const { id } of [workspace, lambda, user, group, policy, rule, container, secret]) {
    await platform.open(page, `resources/${id}?tab=form`);
    await expect(paneOf(page).getByRole('textbox', { name: 'Description', exact: true })).toHaveValue(SCRIPT);
    for (const tab of await paneOf(page).getByRole('tab').all()) {
      await tab.click();
      await expect(tab).toHaveAttribute('aria-selected', 'true');
    }
    expect(await page.evaluate(() => 'hasRun' in globalThis), id).toBe(false);
  }
  await platform.open(page, `resources/${user.id}`);
  await page.getByRole('searchbox', { name: 'Filter the tree' }).fill('<img');
  await expect(
    treeOf(page)
      .getByRole('treeitem', { name: /<img src=x/ })
      .first(),
  ).toBeVisible();
  await paneOf(page).getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('alertdialog')).toContainText('<img src=x');
  expect(await page.evaluate(() => 'hasRun' in globalThis)).toBe(false);
});

test('a session that ends during an edit keeps the draft, in the form and in a new resource', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  const { id, find, read } = await openLambda(platform, page);
  await description(page).fill('Written before the session ended');
  await page.context().clearCookies();
  await notice(paneOf(page).getByRole('button', { name: 'Review 1 change' }));
  await signInAgain(page);
  await expect(description(page)).toHaveValue('Written before the session ended');
  await paneOf(page).getByRole('button', { name: 'Review 1 change' }).click();
  await page.getByRole('button', { name: 'Apply 1 change' }).click();
  await expect.poll(async () => (await read(id)).description).toBe('Written before the session ended');

  const environment = await find('environments', 'integration');
  await platform.open(page, `resources/${environment.id}?new=lambdas`);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('half-written');
  await page.context().clearCookies();
  await notice(page.getByRole('button', { name: 'Create lambda' }));
  await signInAgain(page);
  await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('half-written');
  await page.getByRole('button', { name: 'Create lambda' }).click();
  await expect(paneOf(page).getByRole('heading', { name: 'half-written' })).toBeVisible();
});

test.describe('after a crash of the server', () => {
  test.use({ ownProcess: true });

  test('a save without a server is reported, and the same change is applied when the server has returned', {
    tag: '@slow',
  }, async ({ page, platform }) => {
    const { id, read } = await openLambda(platform, page);
    await description(page).fill('Written before the crash');
    await paneOf(page).getByRole('button', { name: 'Review 1 change' }).click();
    await expect(page.getByRole('button', { name: 'Apply 1 change' })).toBeVisible();
    await platform.end('SIGKILL');
    await page.getByRole('button', { name: 'Apply 1 change' }).click();
    await expect(page.getByRole('dialog').getByRole('alert')).toContainText(/does not respond/);
    await platform.start();
    // The session survives the crash: the review is still open, and is applied.
    await expect(page.getByText('Disconnected.')).toBeHidden();
    await page.getByRole('button', { name: 'Apply 1 change' }).click();
    await expect.poll(async () => (await read(id)).description).toBe('Written before the crash');
  });
});

test('a diff that cannot be loaded affects neither the review nor the screen', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  const { id, read } = await openLambda(platform, page);
  await page.route('**/assets/*.js', (route) => route.abort());
  await description(page).fill('Applied without a comparison');
  await paneOf(page).getByRole('button', { name: 'Review 1 change' }).click();
  await expect(page.getByRole('dialog')).toContainText('The comparison could not be loaded');
  await page.getByRole('button', { name: 'Apply 1 change' }).click();
  await expect.poll(async () => (await read(id)).description).toBe('Applied without a comparison');
});

test.describe('in an almost empty world', () => {
  test.use({ startOptions: { seed: 'empty' } });

  test('the tree of an empty world offers a start', { tag: '@slow' }, async ({ page, platform }) => {
    await platform.open(page, 'resources');
    await expect(treeOf(page).getByRole('treeitem', { name: /^root organization/ })).toBeVisible();
    await expect(paneOf(page).getByRole('heading', { name: 'root', exact: true })).toBeVisible();
    for (const tab of await paneOf(page).getByRole('tab').all()) await tab.click();
    await tabOf(page, 'History').click();
    await expect(paneOf(page)).toContainText(/Never changed|Commits/);
    await page.getByRole('button', { name: 'New', exact: true }).first().click();
    await page.getByRole('menuitem', { name: 'New workspace' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('first');
    await page.getByRole('button', { name: 'Create workspace' }).click();
    await expect(lineOf(page, 'first workspace')).toBeVisible();
  });
});
