import { requireEngine, testImage } from '../server/testing/engine.ts';
import { expectNoFaults } from './axe.ts';
import { expect, type Page, test, type WindowPlatform } from './window.ts';

/** Used as a title, a variable and a note: it must be shown as text. */
const SCRIPT = '<img src=x onerror=alert(1)><b>ferns</b>';

interface Named {
  id: string;
  name: string;
  properties: { [name: string]: unknown };
}

const projectsIn = (page: Page) => page.getByRole('region', { name: 'Projects' });
const detailIn = (page: Page) => page.getByRole('region', { name: 'Run', exact: true });
const deploymentIn = (page: Page) => page.getByRole('complementary', { name: 'What it deployed' });

/** @typeParam T declared by the API document for the path */
async function send<T>(platform: WindowPlatform, page: Page, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await platform.send(page, method, path, body);
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}

// Stopping a pipeline signals its runner; the last journey kills the runner.
test.use({ ownProcess: true });

test.describe('with a container engine', { tag: '@engine' }, () => {
  test.use({ startOptions: { containers: { engine: 'auto', onStop: 'remove' } } });
  const before = new Set<string>();
  test.beforeAll(async () => {
    const docker = await requireEngine();
    await testImage('busybox:1.36');
    for (const { Id } of await docker.listImages()) before.add(Id);
  });
  test.afterAll(async () => {
    const docker = await requireEngine();
    for (const { Id, RepoTags } of await docker.listImages()) {
      if (!before.has(Id) && RepoTags?.some((tag) => tag.startsWith('shop:')))
        await docker.getImage(Id).remove({ force: true });
    }
  });

  test('a run leads from the branch to the app, a rejected one shows the reason, and both survive a restart', async ({
    page,
    platform,
  }) => {
    await platform.load(page, 'pipelines');
    await expect(page.getByRole('heading', { name: 'No pipeline runs yet' })).toBeVisible();
    await expect(projectsIn(page)).toContainText('all 9 present');
    await expect(projectsIn(page)).toContainText('never');
    await expectNoFaults(page);

    // The run starts, and is followed live.
    await page.getByRole('button', { name: "Run the sample app's pipeline" }).click();
    const detail = detailIn(page);
    await expect(detail.getByRole('heading', { name: 'fern-moss/shop' })).toBeVisible();
    await expect(projectsIn(page).getByRole('button', { name: 'Running' })).toBeDisabled();
    const log = detail.getByRole('log');
    // It follows the newest line; a search also finds lines that are no longer visible.
    await detail.getByLabel('Search the log').fill('docker build');
    await expect(detail.getByText(/^[1-9]\d* match(es)?$/)).toBeVisible();
    await detail.getByLabel('Search the log').fill('');
    const stages = detail.getByRole('list', { name: 'Stages' });
    await expect(
      stages.getByRole('button', { name: 'success deploy' }).or(stages.getByRole('button', { name: /^deploy exit 0/ })),
    ).toBeVisible();

    // Effects of the run, next to the log.
    const story = deploymentIn(page);
    await expect(story).toContainText('POST /ci/deploy');
    await expect(story.getByRole('link', { name: 'shop-feature-ferns', exact: true })).toBeVisible();
    await expect(story).toContainText(/running|healthy/);
    await expect(story.getByRole('blockquote')).toContainText(
      `Deployed feature/ferns to ${platform.ready.gatewayUrl}/website/shop-feature-ferns`,
    );
    const address = await detail.getByRole('link', { name: 'Open app' }).getAttribute('href');
    await expect.poll(async () => (await fetch(`${address}/`)).status).toBe(200);
    await expectNoFaults(page);

    // A search marks lines and hides none; a job filters them; both are in the address.
    await detail.getByLabel('Search the log').fill('Step 1/7');
    await expect(detail.getByText('1 match', { exact: true })).toBeVisible();
    await stages.getByRole('button', { name: /^deploy/ }).click();
    await expect(detail.getByText('0 matches')).toBeVisible();
    expect(page.url()).toContain('job=deploy');
    await page.reload();
    await expect(detail.getByText('0 matches')).toBeVisible();
    await detail.getByLabel('Search the log').fill('');
    await expect(log).not.toContainText('docker build');
    await stages.getByRole('button', { name: /^deploy/ }).click();
    await detail.getByRole('tab', { name: 'Variables' }).click();
    await expect(detail.getByRole('table', { name: 'Variables of the run' })).toContainText('PLATFORM_DEPLOY_URL');

    // The platform recorded the request.
    await story.getByRole('link', { name: 'Invocation' }).click();
    await expect(page.getByRole('heading', { name: 'deploy', exact: true })).toBeVisible();
    await page.goBack();

    // The manual job removes the app, as a run of its own.
    const selected = () => new URL(page.url()).searchParams.get('sel');
    const first = selected();
    await stages.getByRole('button', { name: 'Run stop' }).click();
    await expect.poll(selected).not.toBe(first);
    await expect(stages.getByRole('button', { name: /^stop exit 0/ })).toBeVisible();
    await expect.poll(async () => (await fetch(`${address}/`)).status).toBe(404);

    // The lambda rejects the next request.
    const lambdas = await send<Named[]>(platform, page, 'GET', '/meta/demo/lambdas?expand=true');
    const deploy = lambdas.find(({ name }) => name === 'deploy');
    await send(platform, page, 'PATCH', `/meta/demo/lambdas/${deploy?.id}`, [
      { op: 'replace', path: '/properties/env/TARGET_PROVIDER', value: SCRIPT },
    ]);
    const stopped = selected();
    await projectsIn(page).getByRole('button', { name: 'Run', exact: true }).click();
    await expect.poll(selected).not.toBe(stopped);
    const why = detail.getByRole('region', { name: 'Why it failed' });
    await expect(why).toContainText('Job deploy failed with exit code 1');
    await expect(why).toContainText(`400: TARGET_PROVIDER '${SCRIPT}' is not a container engine`);
    await expect(story).toContainText('400');
    await expect(detail.getByRole('link', { name: 'Open app' })).toBeHidden();
    await expectNoFaults(page, 'a failed run');
    await why.getByRole('link', { name: 'Open the invocation' }).click();
    await expect(page.getByText('is not a container engine').first()).toBeVisible();
    await page.goBack();

    // One of its jobs is run again alone, and fails again because nothing was fixed.
    const refused = selected();
    await stages.getByRole('button', { name: 'Retry deploy' }).click();
    await expect.poll(selected).not.toBe(refused);
    await expect(why).toContainText('Job deploy failed with exit code 1');
    await expect(stages.getByRole('listitem')).toHaveCount(1);
    await detail.getByRole('link', { name: 'retry of an earlier run' }).click();
    await expect(stages.getByRole('listitem')).toHaveCount(3);

    // Filters.
    await platform.load(page, 'pipelines');
    const rows = page.getByRole('grid', { name: 'Runs' }).getByRole('row');
    await expect(rows).toHaveCount(5);
    await page.getByRole('radio', { name: 'Failed' }).click();
    await expect(rows).toHaveCount(3);
    await expect(rows.nth(1)).toContainText('deploy: exit code 1');
    expect(page.url()).toContain('show=failed');
    await page.getByLabel('Find runs').fill('nothing like it');
    await page.getByRole('button', { name: 'Clear the query' }).click();
    await expect(rows).toHaveCount(5);

    // The scope filters runs by their deployment.
    const workspaces = await send<Named[]>(platform, page, 'GET', '/meta/demo/workspaces');
    const scopeOf = (name: string) => workspaces.find((workspace) => workspace.name === name)?.id;
    await platform.load(page, `pipelines?scope=${scopeOf('website')}`);
    await expect(rows).toHaveCount(5);
    await platform.load(page, `pipelines?scope=${scopeOf('reporting')}`);
    await expect(page.getByRole('heading', { name: 'No runs match' })).toBeVisible();

    // Stops a running one, whose deployment would take longer than the test.
    const slow = 'export function run() { return new Promise((resolve) => setTimeout(resolve, 60_000)); }';
    await send(platform, page, 'PATCH', `/meta/demo/lambdas/${deploy?.id}`, [
      { op: 'replace', path: '/properties/code', value: Buffer.from(slow).toString('base64') },
    ]);
    await platform.load(page, 'pipelines');
    await projectsIn(page).getByRole('button', { name: 'Run', exact: true }).click();
    await detail.getByRole('button', { name: 'Stop', exact: true }).click();
    await expect(detail.getByText('canceled').first()).toBeVisible();
    await expect(why).toContainText('The run was stopped.');
    await expect(projectsIn(page).getByRole('button', { name: 'Run', exact: true })).toBeEnabled();

    // After a restart, the run is still listed, without its invocations and its container.
    await platform.end('SIGTERM');
    await platform.start();
    await page.context().clearCookies();
    await platform.load(page, `pipelines?sel=${first}`);
    await expect(story.getByRole('blockquote')).toContainText('Deployed feature/ferns');
    await expect(detail.getByRole('link', { name: 'Open app' })).toBeVisible();
  });
});

test('missing variables of a project are listed, and can be set', async ({ page, platform }) => {
  await platform.open(page);
  const endpoints = await send<Named[]>(platform, page, 'GET', '/meta/demo/apiendpoints?expand=true');
  const deploy = endpoints.find(({ properties }) => properties.resource === '/deploy');
  await platform.open(page, 'pipelines');
  await expect(projectsIn(page)).toContainText('all 9 present');
  await send(platform, page, 'DELETE', `/meta/demo/apiendpoints/${deploy?.id}`);
  await expect(projectsIn(page)).toContainText('PLATFORM_DEPLOY_URL missing');

  await page.getByRole('button', { name: /variables of fern-moss\/shop$/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Variables of fern-moss/shop' });
  await expect(dialog).toContainText('no endpoint is published at /deploy');
  await expectNoFaults(page, 'variables');
  await dialog.getByRole('button', { name: 'Set PLATFORM_DEPLOY_URL' }).click();
  await page.keyboard.type(`${platform.ready.gatewayUrl}/nowhere`);
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('row', { name: /PLATFORM_DEPLOY_URL/ })).toContainText('set in the project');
  // An invalid name is rejected with a message.
  await dialog.getByLabel('Name', { exact: true }).fill(SCRIPT);
  await dialog.getByLabel('Value', { exact: true }).fill('x');
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('alert')).toContainText('must be letters, digits and _');
  await page.keyboard.press('Escape');
  await expect(projectsIn(page)).toContainText('all 9 present');
});

test('a pipeline that cannot start shows the reason', { tag: '@slow' }, async ({ page, platform }) => {
  await platform.open(page);
  const users = await send<Named[]>(platform, page, 'GET', '/meta/root/users?expand=true');
  await send(platform, page, 'DELETE', `/meta/root/users/${users.find(({ name }) => name === 'ci-service')?.id}`);
  await platform.open(page, 'pipelines');
  await expect(projectsIn(page)).toContainText('2 of 9 missing');
  await projectsIn(page).getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText("user 'ci-service' does not exist");
  await expect(projectsIn(page).getByRole('button', { name: 'Run', exact: true })).toBeEnabled();
});

test('a run whose platform was killed is shown as stopped, and nothing waits for it', { tag: '@slow' }, async ({
  page,
  platform,
}) => {
  await platform.open(page, 'pipelines');
  const start = {
    project: { id: 101, path: 'fern-moss/shop' },
    branch: SCRIPT,
    sha: 'a'.repeat(40),
    variables: { present: [], missing: ['PLATFORM_API_KEY'] },
    jobs: [{ name: 'build', stage: 'build', state: 'running' }],
  };
  const { id } = await send<{ id: string }>(platform, page, 'POST', '/inspect/pipelines', start);
  await expect(projectsIn(page).getByRole('button', { name: 'Running' })).toBeDisabled();
  const jobs = [{ name: 'lint', stage: 'build', state: 'success' }, ...start.jobs];
  await send(platform, page, 'PUT', `/inspect/pipelines/${id}`, { state: 'running', jobs, log: [SCRIPT] });
  await page.goto(`${platform.windowOrigin}/ui/pipelines?sel=${id}`);
  await expect(detailIn(page).getByRole('log')).toContainText(SCRIPT);
  const progress = detailIn(page).getByRole('progressbar', { name: 'Jobs that have ended' });
  await expect(progress).toHaveAttribute('aria-valuenow', '50');
  await platform.end('SIGKILL');
  await platform.start();
  await page.context().clearCookies();
  await platform.open(page, `pipelines?sel=${id}`);
  await expect(detailIn(page).getByRole('region', { name: 'Why it failed' })).toContainText('The run was stopped.');
  await expect(projectsIn(page).getByRole('button', { name: 'Run', exact: true })).toBeEnabled();

  // An unknown run has a message.
  await page.goto(`${platform.windowOrigin}/ui/pipelines?sel=nothing`);
  await expect(detailIn(page).getByRole('alert')).toContainText('pipeline run nothing not found');
  await expectNoFaults(page);
});
