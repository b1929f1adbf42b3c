import Docker from 'dockerode';
import { requireEngine, testImage } from '../server/testing/engine.ts';
import { startSlowRegistry } from '../server/testing/slow-registry.ts';
import { expectNoFaults } from './axe.ts';
import { expect, type Page, test, type WindowPlatform } from './window.ts';

/** Serves a page, logs a line at intervals, and sometimes a warning. */
const SHOP = `mkdir -p /www && echo shop > /www/index.html && i=0
(while true; do i=$((i+1)); echo "GET /orders/$i 200"; [ $((i % 5)) = 0 ] && echo "slow query $i" >&2; sleep 0.2; done) &
exec httpd -f -p 8080 -h /www`;
const WEB = { protocol: 'tcp', name: 'web', expose_endpoint: true, container_port: 8080 };

interface Record {
  id: string;
  name: string;
  properties: { status: string; [name: string]: unknown };
}

let image: string;

/**
 * Creates resources in the first environment of the demo world with the session of the window. The first container creates networks,
 * and Chromium aborts loads when the machine's networks change, so containers must run before a page is loaded.
 */
async function containerClient(platform: WindowPlatform, page: Page) {
  await platform.open(page);
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await platform.send(page, method, path, body);
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const list = async (path: string) => (await send('GET', path)) as Record[]; // as the API document says
  const [environment] = await list('/meta/demo/environments?expand=true');
  const docker = (await list('/meta/root/providers')).find(({ name }) => name === 'default-docker');
  const create = async (collection: string, name: string, properties: object = {}) => {
    const common = { container_type: 'DOCKER', image, memory: 32, provider: { id: docker?.id } };
    const body = { name, properties: { ...common, ...properties } };
    return (await send('POST', `/meta/demo/environments/${environment?.id}/${collection}`, body)) as Record;
  };
  const statusOf = async ({ id }: Record) =>
    ((await send('GET', `/meta/root/resources/${id}`)) as Record).properties.status;
  return {
    send,
    create,
    statusOf,
    environmentId: environment?.id,
    async run(collection: string, name: string, properties: object, status: string) {
      const record = await create(collection, name, properties);
      await expect.poll(() => statusOf(record)).toBe(status);
      return record;
    },
    async publish({ id }: Record) {
      const api = (await send('POST', `/meta/demo/environments/${environment?.id}/apis`, { name: 'pages' })) as Record;
      await send('POST', `/meta/root/apis/${api.id}/apiendpoints`, {
        name: 'front',
        properties: {
          resource: '/shop',
          implementation_type: 'container',
          implementation_id: id,
          container_port_name: 'web',
        },
      });
    },
  };
}

const rowOf = (page: Page, name: string) =>
  page.getByRole('grid', { name: 'Containers' }).getByRole('row', { name: new RegExp(`\\b${name}\\b`) });
const choose = async (page: Page, name: string) => {
  await rowOf(page, name).getByRole('gridcell').first().click();
  await expect(page.getByRole('region', { name: 'Container' }).getByRole('heading', { name })).toBeVisible();
};
const act = async (page: Page, name: string, action: string | RegExp) => {
  await rowOf(page, name)
    .getByRole('button', { name: `Actions of ${name}` })
    .click();
  await page.getByRole('menuitem', { name: action, exact: true }).click();
};

test.describe('with an engine', { tag: '@engine' }, () => {
  test.use({ startOptions: { containers: { engine: 'auto', onStop: 'remove' } } });
  test.beforeAll(async () => {
    await requireEngine();
    image = await testImage();
  });

  test('a container can be found, inspected, measured and entered', async ({ page, platform }) => {
    const client = await containerClient(platform, page);
    const shop = await client.run(
      'containers',
      'shop',
      { cmd: SHOP, port_mappings: [WEB], env: { LEVEL: 'debug', API_TOKEN: 'top-s3cret' } },
      'RUNNING',
    );
    await client.publish(shop);
    await client.run('jobs', 'migrate', { cmd: 'echo migrated 12 tables' }, 'SUCCEEDED');

    await platform.load(page, 'containers');
    const row = rowOf(page, 'shop');
    await expect(row).toContainText('running');
    await expect(row).toContainText(image);
    await expect(row).toContainText('development');
    await expect(row.getByRole('meter', { name: 'CPU of shop' })).toBeVisible();
    await expect(row.getByRole('meter', { name: 'Memory of shop' })).toHaveAttribute('aria-valuetext', /[kM]B$/);
    await expect(rowOf(page, 'migrate')).toContainText('succeeded');
    const link = row.getByRole('link', { name: /\/pages\/shop/ });
    expect(await (await fetch(`${await link.getAttribute('href')}/`)).text()).toBe('shop\n');

    // Tabs and filter are in the address.
    const statusFilter = page.getByRole('radiogroup', { name: 'Which containers' });
    await statusFilter.getByRole('radio', { name: 'Stopped 1' }).click();
    await expect(row).toBeHidden();
    await expect(rowOf(page, 'migrate')).toBeVisible();
    expect(page.url()).toContain('show=stopped');
    await page.getByLabel('Find containers').fill('shop');
    await expect(page.getByRole('heading', { name: 'No containers match' })).toBeVisible();
    await page.getByRole('button', { name: 'Clear the query' }).click();
    await expect(row).toBeVisible();
    expect(page.url()).not.toContain('show=');

    await choose(page, 'shop');
    const log = page.getByRole('log');
    // It shows the newest lines; their number depends on the machine's speed.
    await expect(log.getByText(/^GET \/orders\/\d+ 200$/).last()).toBeVisible();
    await expect(log.getByTitle('Standard error').first()).toBeVisible();

    // A search marks and counts, and hides nothing.
    await page.getByLabel('Search the log').fill('orders/2 ');
    await expect(page.getByText('1 match', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'Regular expression' }).click();
    await page.getByLabel('Search the log').fill('orders/[23] ');
    await expect(page.getByText('2 matches', { exact: true })).toBeVisible();
    await page.getByLabel('Search the log').press('Enter');
    await expect(log.locator('mark')).toHaveText(['orders/2 ', 'orders/3 ']);
    await expect(log.getByText('GET /orders/1 200')).toBeVisible();
    expect(page.url()).toContain('regex=1');
    await page.getByLabel('Search the log').fill('(');
    await expect(page.getByRole('alert')).toContainText('Invalid regular expression: missing closing )');
    await page.getByLabel('Search the log').fill('');

    // It follows the log until the user scrolls up.
    await expect.poll(() => log.evaluate((box) => box.scrollHeight - box.clientHeight)).toBeGreaterThan(100);
    const jump = page.getByRole('button', { name: 'Jump to newest' });
    if (await jump.isVisible()) await jump.click();
    await log.hover();
    await page.mouse.wheel(0, -400);
    await expect(jump).toBeVisible();
    const top = await log.evaluate((box) => box.scrollTop);
    const lines = await page.getByText(/^\d+ lines$/).textContent();
    await expect(page.getByText(/^\d+ lines$/)).not.toHaveText(lines ?? '');
    expect(await log.evaluate((box) => box.scrollTop)).toBe(top);
    await jump.click();
    await expect(jump).toBeHidden();

    await page.getByRole('tab', { name: 'Stats' }).click();
    await expect(page.getByRole('img', { name: /^Memory: now \d/ })).toBeVisible();
    await expect(page.getByText(/of 34 MB/)).toBeVisible();

    await page.getByRole('tab', { name: 'Console' }).click();
    for (const command of ['echo $LEVEL', 'cat /nothing']) {
      await page.getByLabel('Command').fill(command);
      await page.getByLabel('Command').press('Enter');
      await expect(page.getByRole('article', { name: command })).toBeVisible();
    }
    await expect(page.getByRole('article', { name: 'echo $LEVEL' })).toContainText('debug');
    await expect(page.getByRole('article', { name: 'cat /nothing' })).toContainText(/exit 1.*can't open/);
    await page.getByLabel('Command').press('ArrowUp');
    await expect(page.getByLabel('Command')).toHaveValue('cat /nothing');

    await page.getByRole('tab', { name: 'Environment' }).click();
    await expect(page.getByText('debug', { exact: true })).toBeVisible();
    await expect(page.getByText('top-s3cret')).toBeHidden();
    await page.getByText('Show secret values').click();
    await expect(page.getByText('top-s3cret')).toBeVisible();

    await page.getByRole('tab', { name: 'Instances' }).click();
    await expect(page.getByText(/127\.0\.0\.1:\d+ to 8080/)).toBeVisible();
    expect(page.url()).toContain('tab=instances');

    await choose(page, 'migrate');
    await page.getByRole('tab', { name: 'Logs' }).click();
    await expect(log.getByText('migrated 12 tables')).toBeVisible();
  });

  test('a terminal passes on every key, follows its size, and reopens after its shell has ended', async ({
    page,
    platform,
  }) => {
    const complaints: string[] = [];
    page.on(
      'console',
      (consoleMessage) =>
        consoleMessage.text().includes('Content Security Policy') && complaints.push(consoleMessage.text()),
    );
    const client = await containerClient(platform, page);
    await client.run('containers', 'shop', { cmd: 'trap "exit 0" TERM; sleep 3600 & wait' }, 'RUNNING');
    await platform.load(page, 'containers');
    await choose(page, 'shop');
    await page.getByRole('tab', { name: 'Terminal' }).click();
    const terminal = page.getByRole('region', { name: 'Terminal in shop' });
    const panel = page.getByRole('tabpanel', { name: 'Terminal' });
    // It has the focus as soon as it is open.
    await expect(panel.getByText('open', { exact: true })).toBeVisible();
    await page.keyboard.type('echo h"i"\n');
    await expect(terminal).toContainText(/echo h"i"\s*hi/);
    // A command prints the size repeatedly. When the size changes, BusyBox's shell asks for the position of the cursor, and discards
    // what is typed right after the reply.
    await page.keyboard.type('while busybox stty size; do sleep 1; done\n');
    const size = async () => (await terminal.textContent())?.match(/\d+ \d+/g)?.at(-1);
    await expect.poll(size).toMatch(/\d+ \d+/);
    const before = await size();
    await page.setViewportSize({ width: 1024, height: 700 });
    await expect.poll(size).not.toBe(before);

    // The window's shortcuts, such as single letters and Esc, go to the shell here.
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await expect(terminal).toBeVisible();
    await page.keyboard.press('Control+c');
    await page.keyboard.press('Shift+Tab');
    await expect(page.getByRole('switch', { name: 'Screen reader' })).toBeFocused();
    await page.keyboard.press('Space');
    await expect(terminal.getByRole('list')).toBeAttached();
    await expectNoFaults(page);
    // The tab is unchanged after a look at another one.
    await page.getByRole('tab', { name: 'Logs' }).click();
    await page.getByRole('tab', { name: 'Terminal' }).click();
    await terminal.click();
    await page.keyboard.type('exit 3\n');
    await expect(panel.getByText('The shell has ended with exit code 3.')).toBeVisible();
    await page.getByRole('button', { name: 'Reconnect' }).click();
    await expect(panel.getByText('open', { exact: true })).toBeVisible();
    await act(page, 'shop', 'Stop');
    await expect(panel.getByText('The container has stopped.')).toBeVisible();
    await expectNoFaults(page);
    expect(complaints).toEqual([]);
  });

  test('a container is stopped, started, scaled, restarted and deleted with its endpoint', async ({
    page,
    platform,
  }) => {
    const client = await containerClient(platform, page);
    const shop = await client.run('containers', 'shop', { cmd: SHOP, port_mappings: [WEB] }, 'RUNNING');
    await client.publish(shop);
    await platform.load(page, 'containers');
    const row = rowOf(page, 'shop');
    await expect(row).toContainText('1/1');

    await act(page, 'shop', 'Stop');
    await expect(row).toContainText('stopped');
    await act(page, 'shop', 'Start');
    await expect(row).toContainText(/running.*1\/1/);
    await act(page, 'shop', /Scale/);
    await page.getByRole('button', { name: 'Increase Instances' }).click();
    await page.getByRole('button', { name: 'Scale to 2' }).click();
    await expect(row).toContainText('2/2');

    await choose(page, 'shop');
    await page.getByRole('tab', { name: 'Instances' }).click();
    const ids = async () => {
      const { body } = await platform.send(page, 'GET', `/inspect/containers/${shop.id}/instances`);
      return (body as { id: string }[]).map(({ id }) => id); // as the API document says
    };
    const before = await ids();
    await page.getByRole('tab', { name: 'Logs' }).click();
    for (const id of before) await expect(page.getByTitle(`Replica ${id}`).first()).toBeVisible();
    await page.getByRole('tab', { name: 'Instances' }).click();
    await page.getByRole('region', { name: 'Container' }).getByRole('button', { name: 'Restart' }).click();
    await expect.poll(async () => (await ids()).filter((id) => !before.includes(id)).length).toBe(2);
    for (const id of await ids()) await expect(page.getByText(id.slice(0, 12))).toBeVisible();

    await act(page, 'shop', /Delete/);
    const dialog = page.getByRole('alertdialog', { name: 'Delete container shop' });
    await expect(dialog).toContainText('1 endpoint points to it: front');
    await dialog.getByRole('button', { name: 'Delete all 2' }).click();
    await expect(page.getByText('shop was deleted')).toBeVisible();
    await expect(page.getByRole('heading', { name: 'No containers yet' })).toBeVisible();
    expect((await platform.call('/pages/shop')).status).toBe(404);
    await expect
      .poll(async () => (await new Docker().listContainers({ all: true })).filter(({ Id }) => before.includes(Id)))
      .toEqual([]);
  });

  test('a window opened during an image pull shows its progress', async ({ page, platform }) => {
    const registry = await startSlowRegistry();
    const client = await containerClient(platform, page);
    // Its network exists before a page is loaded.
    await client.run('jobs', 'first', { cmd: 'true' }, 'SUCCEEDED');
    await client.create('containers', 'slow', { image: registry.image });
    await registry.waitForHalf();
    await platform.load(page, 'containers');
    const bar = rowOf(page, 'slow').getByRole('progressbar', { name: 'Pull for slow' });
    await expect(bar).toHaveAttribute('aria-valuenow', /^[1-9]\d$/);
    await choose(page, 'slow');
    await expect(page.getByText(/Downloading, .*B of .*MB/)).toBeVisible();
    registry.sendRest();
    await expect(rowOf(page, 'slow')).toContainText('running');
    await expect(bar).toBeHidden();
    await platform.end('SIGTERM');
    registry.stop();
    await new Docker().getImage(registry.image).remove({ force: true });
  });

  test('axe finds no violation on the list and the detail, light and dark', async ({ page, platform }) => {
    const client = await containerClient(platform, page);
    await client.run('containers', 'shop', { cmd: SHOP, port_mappings: [WEB], env: { LEVEL: 'debug' } }, 'RUNNING');
    await platform.load(page, 'containers');
    await expect(rowOf(page, 'shop').getByRole('meter')).toHaveCount(2);
    await expectNoFaults(page);
    await choose(page, 'shop');
    await page.getByLabel('Search the log').fill('orders');
    await expect(page.getByRole('log').locator('mark').first()).toBeVisible();
    await expectNoFaults(page);
    for (const tab of ['Stats', 'Console', 'Environment', 'Instances', 'Inspect']) {
      await page.getByRole('tab', { name: tab }).click();
      if (tab === 'Stats') await expect(page.getByRole('img', { name: /^Memory/ })).toBeVisible();
      if (tab === 'Console') {
        await page.getByLabel('Command').fill('ls /; ls /nothing');
        await page.getByLabel('Command').press('Enter');
        await expect(page.getByRole('article')).toBeVisible();
      }
      await expectNoFaults(page);
    }
  });
});

test.describe('without an engine', () => {
  test('the screen gives the reason, names what still works, and tries again', { tag: '@slow' }, async ({
    page,
    platform,
  }) => {
    image = 'nginx:1';
    const client = await containerClient(platform, page);
    await platform.open(page, 'containers');
    await expect(page.getByRole('heading', { name: 'No container engine' })).toBeVisible();
    await expect(page.getByText('the setting containers.engine is none')).toBeVisible();
    await expect(page.getByText(/Lambdas, the gateway and leads work without an engine/)).toBeVisible();
    await expectNoFaults(page);
    const retryResponse = page.waitForResponse((answer) => answer.url().endsWith('/inspect/engines/retry'));
    await page.getByRole('button', { name: 'Try again' }).click();
    expect((await retryResponse).status()).toBe(200);

    await client.create('containers', 'shop');
    await expect(rowOf(page, 'shop')).toContainText('lost');
    await expect(page.getByRole('status').filter({ hasText: 'No container engine responds' })).toBeVisible();
    await choose(page, 'shop');
    await expect(page.getByText('not live')).toBeVisible();
    await expectNoFaults(page);
  });
});
