import { askerOf, lineOf, paneOf, pick, pickResource, type Resource, tabOf, treeOf } from './resources-window.ts';
import { expect, type Page, test, type WindowPlatform } from './window.ts';

test('the tree is walked with the mouse: opened, closed, filtered, and the address follows', async ({
  page,
  platform,
}) => {
  await platform.open(page, 'resources');
  const root = lineOf(page, 'root organization 11');
  await expect(root).toHaveAttribute('aria-level', '1');
  await expect(root).toHaveAttribute('aria-selected', 'true');
  const website = treeOf(page).getByRole('treeitem', { name: /^website workspace/ });
  await expect(website).toHaveAttribute('aria-expanded', 'true');
  await website.locator('span').first().click();
  await expect(website).toHaveAttribute('aria-expanded', 'false');
  await expect(lineOf(page, 'contact-form lambda')).toBeHidden();
  await website.locator('span').first().click();
  await lineOf(page, 'contact-form lambda').click();
  await expect(paneOf(page).getByRole('heading', { name: 'contact-form' })).toBeVisible();
  await expect(page).toHaveURL(/\/ui\/resources\/[0-9a-f-]{36}$/);

  await page.getByRole('searchbox', { name: 'Filter the tree' }).fill('order');
  await expect(lineOf(page, 'contact-form lambda')).toBeHidden();
  await expect(lineOf(page, 'order-status lambda')).toBeVisible();
  await expect(page).toHaveURL(/[?&]q=order/);
  await page.reload();
  await expect(lineOf(page, 'order-status lambda')).toBeVisible();
  await expect(lineOf(page, 'contact-form lambda')).toBeHidden();
  await expect(paneOf(page).getByRole('heading', { name: 'contact-form' })).toBeVisible();
  await page.getByRole('searchbox', { name: 'Filter the tree' }).fill('no such thing');
  await expect(page.getByText('No resource is called that.')).toBeVisible();
  await page.getByRole('button', { name: 'Clear the filter' }).click();
  await expect(lineOf(page, 'contact-form lambda')).toBeVisible();
});

test('the tree is walked with the keyboard alone, as trees have it', async ({ page, platform }) => {
  await platform.open(page, 'resources');
  const active = () =>
    page.evaluate<string>(
      `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent`,
    );
  await treeOf(page).focus();
  await page.keyboard.press('Home');
  await expect.poll(active).toMatch(/^root/);
  await page.keyboard.press('ArrowDown');
  await expect.poll(active).toMatch(/^demo/);
  await page.keyboard.press('ArrowLeft');
  await expect(treeOf(page).getByRole('treeitem', { name: /^demo/ })).toHaveAttribute('aria-expanded', 'false');
  await page.keyboard.press('ArrowLeft');
  await expect.poll(active).toMatch(/^root/);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(treeOf(page).getByRole('treeitem', { name: /^demo/ })).toHaveAttribute('aria-expanded', 'true');
  await page.keyboard.press('ArrowRight');
  await expect.poll(active).toMatch(/^delivery/);
  await page.keyboard.press('Enter');
  await expect(paneOf(page).getByRole('heading', { name: 'delivery' })).toBeVisible();
  await page.keyboard.press('End');
  await expect.poll(active).toMatch(/^Users/);
  await page.keyboard.press('Enter');
  await expect(lineOf(page, 'ada.byrne user')).toBeVisible();

  // The filter is one key away, and Esc leaves it as it found it.
  await page.keyboard.press('/');
  await page.keyboard.type('deploy');
  await expect(lineOf(page, 'deploy lambda')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('searchbox', { name: 'Filter the tree' })).toHaveValue('');
});

test('what is inside a place is a table: a row is chosen, opened, and kept in the address', async ({
  page,
  platform,
}) => {
  await platform.open(page);
  const { id } = await askerOf(platform, page).find('environments', 'integration');
  await platform.open(page, `resources/${id}`);
  const table = paneOf(page).getByRole('grid', { name: 'Inside' });
  await expect(table.getByRole('row', { name: /deploy.*lambda/ })).toBeVisible();
  await table.getByRole('row', { name: /^ci/ }).getByRole('gridcell').first().click();
  await expect(page).toHaveURL(/sel=[0-9a-f-]{36}/);
  await page.reload();
  await expect(table.getByRole('row', { name: /^ci/ })).toHaveAttribute('aria-selected', 'true');
  await table.focus();
  await page.keyboard.press('Enter');
  await expect(paneOf(page).getByRole('heading', { name: 'ci', exact: true })).toBeVisible();
  await expect(paneOf(page).getByRole('grid', { name: 'Inside' })).toContainText('endpoint');
});

test('each tab has an address; a reload and the way back restore it', async ({ page, platform }) => {
  await platform.open(page);
  const { id } = await askerOf(platform, page).find('lambdas', 'order-status');
  await platform.open(page, `resources/${id}`);
  for (const [title, word] of [
    ['JSON', 'json'],
    ['Calls', 'calls'],
    ['History', 'history'],
    ['Relations', 'relations'],
    ['Rights', 'rights'],
  ] as const) {
    await tabOf(page, title).click();
    await expect(page).toHaveURL(new RegExp(`tab=${word}`));
    await page.reload();
    await expect(tabOf(page, title)).toHaveAttribute('aria-selected', 'true');
  }
  // A word that is no tab of it: the first one.
  await page.goto(page.url().replace('tab=rights', 'tab=nonsense'));
  await expect(tabOf(page, 'Form')).toHaveAttribute('aria-selected', 'true');
});

/** Opens the form for a new resource below a place. */
async function begin(page: Page, platform: WindowPlatform, place: string, kind: string) {
  await platform.open(page, `resources/${place}`);
  await paneOf(page).getByRole('button', { name: 'New', exact: true }).first().click();
  await page.getByRole('menuitem', { name: `New ${kind}`, exact: true }).click();
  await expect(page.getByRole('alertdialog', { name: `New ${kind}` })).toBeVisible();
}

/** Sends the form and reads what it has made. */
async function create(page: Page, platform: WindowPlatform, kind: string): Promise<Resource> {
  await page.getByRole('button', { name: `Create ${kind}`, exact: true }).click();
  await expect(page.getByRole('alertdialog')).toBeHidden();
  await expect(page).toHaveURL(/resources\/[0-9a-f-]{36}/);
  const id = /resources\/([0-9a-f-]{36})/.exec(page.url())?.[1] ?? '';
  const made = await askerOf(platform, page).read(id);
  await expect(paneOf(page).getByRole('heading', { name: made.name, exact: true })).toBeVisible();
  return made;
}

const fill = (page: Page, label: string, text: string) =>
  page.getByRole('textbox', { name: label, exact: true }).fill(text);

test('each kind of resource is created through its form', async ({ page, platform }) => {
  test.setTimeout(240_000);
  await platform.open(page);
  const { ask } = askerOf(platform, page);
  const root = (await ask('GET', '/meta/root')) as Resource; // as the API document says

  await begin(page, platform, root.id, 'organization');
  await expect(page.getByRole('combobox', { name: 'in' })).toHaveValue('root');
  await fill(page, 'name', 'Not A Name');
  await page.getByRole('button', { name: 'Create organization' }).click();
  await expect(page.getByRole('alertdialog')).toContainText('lower-case letters');
  await expect(page.getByRole('textbox', { name: 'name', exact: true })).toHaveAttribute('aria-invalid', 'true');
  await fill(page, 'name', 'acme');
  const org = await create(page, platform, 'organization');

  await begin(page, platform, org.id, 'workspace');
  await fill(page, 'name', 'shop');
  await fill(page, 'description', 'Sells jars');
  const workspace = await create(page, platform, 'workspace');
  expect(workspace.description).toBe('Sells jars');

  await begin(page, platform, workspace.id, 'environment');
  await fill(page, 'name', 'dev');
  await pick(page, /environment_type/, 'test');
  await page.getByRole('button', { name: 'Add to env' }).click();
  await fill(page, 'env: name 1', 'API_TOKEN');
  await fill(page, 'env: value of API_TOKEN', 'top-s3cret');
  await expect(page.getByLabel('env: value of API_TOKEN', { exact: true })).toHaveAttribute('type', 'password');
  const environment = await create(page, platform, 'environment');
  expect(environment.properties).toMatchObject({ environment_type: 'test', env: { API_TOKEN: 'top-s3cret' } });

  await begin(page, platform, org.id, 'user');
  await fill(page, 'name', 'grace');
  await fill(page, 'email', 'grace@example.com');
  await page.getByLabel('password', { exact: true }).fill('a long passphrase');
  await expect(page.getByLabel('password', { exact: true })).toHaveAttribute('type', 'password');
  await pick(page, /platform_home/, 'acme');
  const user = await create(page, platform, 'user');
  expect(user.properties).toMatchObject({ email: 'grace@example.com', platform_home: 'acme' });
  expect(JSON.stringify(user)).not.toContain('passphrase');

  await begin(page, platform, org.id, 'group');
  await fill(page, 'name', 'admirals');
  await page.getByRole('button', { name: 'Add to users' }).click();
  await pickResource(page, 'users 1', 'grace');
  const group = await create(page, platform, 'group');
  expect(group.properties.users).toMatchObject([{ id: user.id }]);

  await begin(page, platform, environment.id, 'lambda');
  await fill(page, 'name', 'hello');
  const lambda = await create(page, platform, 'lambda');
  expect(lambda.properties).toMatchObject({ runtime: 'nodejs', handler: 'run' });
  expect(lambda.properties.provider).toHaveProperty('id');

  await begin(page, platform, environment.id, 'API');
  await fill(page, 'name', 'greetings');
  const api = await create(page, platform, 'API');

  await begin(page, platform, api.id, 'endpoint');
  await fill(page, 'name', 'hello');
  await fill(page, 'resource', '/hello');
  await pickResource(page, 'implementation_id', 'hello');
  await page.getByRole('checkbox', { name: 'POST' }).check();
  await page.getByRole('switch', { name: 'plugins rateLimit enabled' }).press('Space');
  await fill(page, 'plugins rateLimit perMinute', '60');
  await page.keyboard.press('Tab');
  const endpoint = await create(page, platform, 'endpoint');
  expect(endpoint.properties).toMatchObject({
    implementation_id: lambda.id,
    methods: ['POST'],
    plugins: { rateLimit: { enabled: true, perMinute: 60 } },
  });
  expect((await platform.call('/greetings/hello', {})).status).toBe(200);

  await begin(page, platform, org.id, 'provider');
  await fill(page, 'name', 'our-log');
  await expect(page.getByRole('button', { name: 'Create provider' })).toBeDisabled();
  await pick(page, /resource_type/, 'Provider::Logging');
  await page.getByRole('checkbox', { name: 'production' }).check();
  const provider = await create(page, platform, 'provider');
  expect(provider.properties.environment_types).toEqual(['production']);

  await begin(page, platform, environment.id, 'secret');
  await fill(page, 'name', 'database');
  await fill(page, 'items 1 key', 'password');
  await page.getByLabel('items 1 value', { exact: true }).fill('hunter2');
  await expect(page.getByLabel('items 1 value', { exact: true })).toHaveAttribute('type', 'password');
  const secret = await create(page, platform, 'secret');
  expect(secret.properties.items).toEqual([{ key: 'password' }]);

  await begin(page, platform, environment.id, 'volume');
  await fill(page, 'name', 'files');
  await fill(page, 'size', '64');
  await page.keyboard.press('Tab');
  const volume = await create(page, platform, 'volume');
  expect(volume.properties).toMatchObject({ type: 'persistent', size: 64 });

  await begin(page, platform, environment.id, 'container');
  await fill(page, 'name', 'web');
  await fill(page, 'image', 'nginx:1.27');
  await page.getByRole('button', { name: 'Add to secrets' }).click();
  await pick(page, /secrets 1 mount_type/, 'env');
  await pickResource(page, 'secrets 1 secret_id', 'database');
  await pick(page, /secrets 1 secret_key/, 'password');
  await fill(page, 'secrets 1 path', 'DB_PASSWORD');
  await page.getByRole('button', { name: 'Add to volumes' }).click();
  await fill(page, 'volumes 1 mount_path', '/data');
  await pickResource(page, 'volumes 1 volume_id', 'files');
  const container = await create(page, platform, 'container');
  expect(container.properties).toMatchObject({
    image: 'nginx:1.27',
    secrets: [{ secret_id: secret.id, secret_key: 'password', path: 'DB_PASSWORD', mount_type: 'env' }],
    volumes: [{ volume_id: volume.id, mount_path: '/data' }],
    port_mappings: [{ name: 'web', container_port: 80, expose_endpoint: true }],
  });

  await begin(page, platform, api.id, 'endpoint');
  await fill(page, 'name', 'front');
  await fill(page, 'resource', '/front');
  await pick(page, /implementation_type/, 'container');
  await pickResource(page, 'implementation_id', 'web');
  await pick(page, /container_port_name/, 'web');
  expect((await create(page, platform, 'endpoint')).properties).toMatchObject({ container_port_name: 'web' });

  await begin(page, platform, environment.id, 'job');
  await fill(page, 'name', 'migrate');
  await fill(page, 'image', 'alpine:3');
  await fill(page, 'cmd', 'echo done');
  expect((await create(page, platform, 'job')).properties).toMatchObject({ cmd: 'echo done' });

  await begin(page, platform, environment.id, 'policy');
  await fill(page, 'name', 'house-rules');
  const policy = await create(page, platform, 'policy');

  await begin(page, platform, policy.id, 'rule');
  await fill(page, 'name', 'greet-new');
  await pick(page, /resource_type/, 'Rule::Event');
  await pickResource(page, 'lambda', 'hello');
  expect((await create(page, platform, 'rule')).properties.lambda).toMatchObject({ id: lambda.id });

  await begin(page, platform, policy.id, 'rule');
  await fill(page, 'name', 'small');
  await pick(page, /resource_type/, 'Rule::Limit');
  await fill(page, 'match_actions 1 action', 'container.create');
  await fill(page, 'eval_logic property', 'container.properties.num_instances');
  await pick(page, /eval_logic operator/, '<=');
  await fill(page, 'eval_logic value', '4');
  const rule = await create(page, platform, 'rule');
  expect(rule.properties.eval_logic).toEqual({
    property: 'container.properties.num_instances',
    operator: '<=',
    value: 4,
  });

  // All of them stand in the tree by now, with nothing read anew by hand.
  for (const name of ['hello lambda', 'web container', 'migrate job', 'files volume', 'database secret']) {
    await expect(lineOf(page, name)).toBeVisible();
  }
});

test('the form of a new resource outlasts a reload of its page, and its address says where', async ({
  page,
  platform,
}) => {
  await platform.open(page);
  const { id } = await askerOf(platform, page).find('environments', 'integration');
  await platform.open(page, `resources/${id}?new=lambda`);
  await expect(page.getByRole('dialog').or(page.getByRole('alertdialog'))).toHaveCount(0);
  await platform.open(page, `resources/${id}?new=lambdas`);
  await expect(page.getByRole('combobox', { name: 'in' })).toHaveValue('integration');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(page).not.toHaveURL(/new=/);
});
