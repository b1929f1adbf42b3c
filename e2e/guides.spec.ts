import { requireEngine, testImage } from '../server/testing/engine.ts';
import { expect, test } from './window.ts';

test('the first guide leads through the demo world', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  await page.getByRole('link', { name: 'Open the tree' }).click();
  await expect(page.getByRole('treegrid').or(page.getByRole('tree'))).toContainText('demo');
  await page.goBack();
  await page.getByRole('link', { name: 'Open the history' }).click();
  await expect(page.getByRole('heading', { name: 'History' })).toBeVisible();
});

test('the second guide ends with a lead in the inbox', async ({ page, platform }) => {
  await platform.open(page);
  await page.getByRole('button', { name: 'Send the form' }).click();
  await expect(page.getByRole('button', { name: 'Send again' })).toBeVisible();
  await page.getByRole('link', { name: '1 in the inbox' }).click();
  await expect(page.getByText('Lovelace').first()).toBeVisible();
});

test.describe('with a container engine', { tag: '@engine' }, () => {
  test.use({ startOptions: { containers: { engine: 'auto', onStop: 'remove' } }, ownProcess: true });

  test('the third guide ends with a running app at a URL', async ({ page, platform }) => {
    const docker = await requireEngine();
    await testImage('busybox:1.36');
    const before = new Set((await docker.listImages()).map(({ Id }) => Id));
    await platform.load(page);
    await page.getByRole('button', { name: 'Run the pipeline' }).click();
    await expect(page.getByRole('button', { name: 'Running ...' })).toBeVisible();
    const link = page.getByRole('link', { name: platform.ready.gatewayUrl });
    await expect(link).toBeVisible({ timeout: 120_000 }); // a whole pipeline
    const address = (await link.getAttribute('href')) ?? '';
    await expect.poll(async () => (await fetch(address)).status).toBe(200);
    expect(await (await fetch(address)).text()).toContain('<html');

    await page.getByRole('navigation').getByRole('link', { name: 'Pipelines' }).click();
    await page.getByRole('row').filter({ hasText: 'feature/ferns' }).first().click();
    await expect(page.getByText('deploy').first()).toBeVisible();
    await platform.end('SIGTERM');
    const remainingContainers = await docker.listContainers({ all: true });
    expect(remainingContainers.filter(({ Image }) => Image.startsWith('shop:'))).toEqual([]);
    for (const { Id, RepoTags } of await docker.listImages()) {
      if (!before.has(Id) && RepoTags?.some((tag) => tag.startsWith('shop:')))
        await docker.getImage(Id).remove({ force: true });
    }
  });
});
