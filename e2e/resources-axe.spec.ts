import { expectNoFaults } from './axe.ts';
import { paneOf, type Resource, windowClient } from './resources-window.ts';
import { expect, test } from './window.ts';

/** The part of the screen that depends on the resource. */
const PANE = 'section[aria-label="Resource"]';
/** Dialogs: the rest of the page is covered. */
const DIALOG = '[role="dialog"], [role="alertdialog"]';

test('axe finds no violation on any tab, form and dialog of resources, light and dark', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.call('/website/orders/1001');
  await platform.open(page);
  const { send, find } = windowClient(platform, page);
  const list = async (path: string) => (await send('GET', `/meta/root/${path}?expand=true`)) as Resource[]; // as the document says
  const environment = await find('environments', 'integration');
  const docker = (await list('providers')).find(({ name }) => name === 'default-docker');
  const lambda = await find('lambdas', 'order-status');
  const make = async (path: string, body: object) => (await send('POST', `/meta/demo/${path}`, body)) as Resource; // as the document says
  const inside = `environments/${environment.id}`;
  const provider = { id: docker?.id };
  const secret = await make(`${inside}/secrets`, {
    name: 'keys',
    properties: { provider, items: [{ key: 'token', value: 'x' }] },
  });
  const volume = await make(`${inside}/volumes`, { name: 'files', properties: { provider, type: 'persistent' } });
  const container = await make(`${inside}/containers`, {
    name: 'web',
    properties: {
      provider,
      container_type: 'DOCKER',
      image: 'nginx',
      env: { A_TOKEN: 'x' },
      port_mappings: [{ name: 'web', protocol: 'tcp', container_port: 80, expose_endpoint: true }],
      secrets: [{ mount_type: 'env', secret_id: secret.id, secret_key: 'token', path: 'TOKEN' }],
      volumes: [{ mount_path: '/data', volume_id: volume.id }],
      health_checks: [{ protocol: 'HTTP', path: '/' }],
    },
  });
  const policy = await make(`${inside}/policies`, { name: 'rules' });
  const rule = await make(`policies/${policy.id}/rules`, {
    name: 'one',
    resource_type: 'Platform::Resource::Rule::Event',
    properties: { match_actions: [{ action: 'lambda.create.post' }], lambda: lambda.id },
  });
  const user = (await list('users')).find(({ name }) => name === 'ada.byrne');
  await send('POST', '/inspect/access/keys', { userId: user?.id });
  await send('PATCH', `/meta/demo/lambdas/${lambda.id}`, [{ op: 'add', path: '/description', value: 'One' }]);

  const detail = async ({ id }: Resource, search: string) => {
    await platform.open(page, `resources/${id}?${search}`);
    await expect(paneOf(page).getByRole('tabpanel')).toBeVisible();
    await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
  };
  await detail(environment, 'tab=form');
  await expectNoFaults(page, 'all that is around a resource');
  const allTabs = [environment, lambda, await find('apiendpoints', 'orders'), user, await find('groups', 'developers')];
  // Each type has a different form; all other tabs are the same.
  const checkedTabs = new Set<string | null>();
  for (const resource of allTabs) {
    if (!resource) continue;
    await detail(resource, 'tab=form');
    for (const tab of await paneOf(page).getByRole('tab').all()) {
      const title = ((await tab.textContent()) ?? '').replace(/[^a-z].*/i, '');
      if (title !== 'Form' && checkedTabs.has(title)) continue;
      checkedTabs.add(title);
      await tab.click();
      await expect(page.locator('[aria-busy="true"]')).toHaveCount(0);
      await expectNoFaults(page, `${resource.name}, ${title}`, PANE);
    }
  }
  const forms = [secret, volume, container, policy, rule, docker, await find('apis', 'ci')];
  for (const resource of [...forms, await find('workspaces', 'website')]) {
    if (!resource) continue;
    await detail(resource, 'tab=form');
    const more = paneOf(page).getByText(/more properties/);
    if (await more.isVisible()) await more.click();
    await expectNoFaults(page, `${resource.name}, Form`, PANE);
  }
  for (const collection of ['containers', 'rules', 'providers', 'users']) {
    await detail(collection === 'rules' ? policy : environment, `new=${collection}`);
    await page
      .getByRole('alertdialog')
      .getByText(/more properties/)
      .or(page.getByText('As curl'))
      .first()
      .click();
    await expectNoFaults(page, `new ${collection}`, DIALOG);
  }

  await detail(lambda, 'tab=form');
  await paneOf(page).getByRole('textbox', { name: 'Description', exact: true }).fill('Two');
  await paneOf(page).getByRole('button', { name: 'Review 1 change' }).click();
  await expect(page.getByLabel('What changes: after')).toBeVisible();
  await expectNoFaults(page, 'the review');
  await page.keyboard.press('Escape');
  await send('PATCH', `/meta/demo/lambdas/${lambda.id}`, [{ op: 'add', path: '/description', value: 'Three' }]);
  await paneOf(page).getByRole('button', { name: 'Resolve conflict' }).click();
  await expectNoFaults(page, 'the conflict', DIALOG);
  await page.keyboard.press('Escape');
  await paneOf(page).getByRole('button', { name: 'Discard' }).click();
  await detail(environment, 'tab=rights');
  await paneOf(page).getByRole('button', { name: /Grant/ }).click();
  await expectNoFaults(page, 'a grant', DIALOG);
  await page.keyboard.press('Escape');
  await paneOf(page).getByRole('button', { name: 'Delete', exact: true }).click();
  await expect(page.getByRole('alertdialog')).toContainText('This also deletes');
  await expectNoFaults(page, 'a deletion', DIALOG);
  await page.keyboard.press('Escape');
  await page.getByRole('searchbox', { name: 'Filter the tree' }).fill('nothing at all');
  await expect(page.getByText('No resource has that name.')).toBeVisible();
  await expectNoFaults(page, 'no match');
});
