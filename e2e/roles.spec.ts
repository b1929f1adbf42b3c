import { waitUntilStill } from './axe.ts';
import { SCREENS } from './screens.ts';
import { expect, type Page, test, type WindowPlatform } from './window.ts';

const PASSWORD = 'password-1';
/** In the order of their permissions. */
const ROLES = ['stranger', 'viewer', 'member', 'developer', 'owner'];
/** Text of an empty screen, which does not reveal whether there are hidden resources. */
const EMPTY =
  /\b0 (?:ok|failed|users?|organizations?|leads?|projects?|in all|of 0)\b|\bNo [a-z ]+ yet\b|None exist|is empty|No errors|^0$/im;
/** Screens that are empty for a user without permissions. */
const WITHHELD = ['lambdas', 'invocations', 'gateway', 'containers', 'leads', 'pipelines'];
/** Tabs of other screens. */
const TABS = ['leads?tab=rules', 'settings?tab=platform', 'settings?tab=access'];
/** Buttons that change something, each with a role that cannot press it. */
const CHANGES = {
  viewer: [
    ...[
      'New',
      'New lambda',
      'Delete all leads',
      'Replay',
      'Replay the undelivered form',
      'Save',
      'Run',
      'Delete',
      'Grant',
    ],
    ...['Send a request', 'Send a request to lead', 'CRM returns 500', 'Save the event under a name'],
  ],
  developer: [
    'Delete all leads',
    'Add a rule',
    'Snapshots',
    'Grant',
    'Roles',
    'Revert this commit',
    'Send a request to lead',
  ],
};

interface Named {
  id: string;
}

/** @typeParam T declared by the API document for the path */
async function send<T>(platform: WindowPlatform, page: Page, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await platform.send(page, method, path, body);
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}

/** Creates a user: with a role in the demo organization, as a member of its developers, or without permissions. */
async function makeUser(platform: WindowPlatform, page: Page, name: string): Promise<void> {
  const properties = { password: PASSWORD };
  const { id } = await send<Named>(platform, page, 'POST', '/meta/root/users', { name, properties });
  if (name === 'member') {
    const [group] = await send<Named[]>(platform, page, 'GET', '/meta/demo/groups?name=developers');
    const patch = [{ op: 'add', path: '/properties/users/-', value: id }];
    await send(platform, page, 'PATCH', `/meta/demo/groups/${group?.id}`, patch);
  } else if (name !== 'stranger') {
    const demo = await send<Named>(platform, page, 'GET', '/meta/demo');
    await send(platform, page, 'PUT', `/inspect/roles/${demo.id}`, { identities: [id], role: name });
  }
}

/** Sends a form that the CRM accepts, and one that it rejects. */
async function sendForms(platform: WindowPlatform, page: Page): Promise<string> {
  const [form] = await send<Named[]>(platform, page, 'GET', '/meta/demo/lambdas?name=contact-form');
  await platform.call('/website/lead', { payload: { firstName: 'Ada' } });
  const patch = [{ op: 'remove', path: '/properties/env/CRM_OID' }];
  await send(platform, page, 'PATCH', `/meta/demo/lambdas/${form?.id}`, patch);
  await platform.call('/website/lead', { payload: { firstName: 'Grace' } });
  return form?.id ?? '';
}

/** The names of the enabled buttons of the screen. */
const pressable = (page: Page) =>
  page
    .getByRole('main')
    .getByRole('button', { disabled: false })
    .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label') ?? button.textContent));

test('every screen is true for users of every role', { tag: '@slow' }, async ({ page, platform }) => {
  test.setTimeout(300_000);
  await platform.open(page);
  const lambdaId = await sendForms(platform, page);
  for (const role of ROLES) await makeUser(platform, page, role);
  const refused: string[] = [];
  page.on('response', (answer) => {
    if (answer.status() === 403) refused.push(new URL(answer.url()).pathname);
  });
  for (const role of ROLES) {
    await platform.openAs(page, role, PASSWORD);
    refused.length = 0;
    const forbidden: readonly string[] = CHANGES[role === 'viewer' ? 'viewer' : 'developer'];
    for (const screen of [...SCREENS, ...TABS, `lambdas/${lambdaId}?tab=env`, `resources/${lambdaId}`]) {
      await platform.open(page, screen);
      await waitUntilStill(page);
      const main = page.getByRole('main');
      await expect
        .soft(main.getByRole('status').filter({ hasText: /^Loading/ }), `${role}, ${screen}: loads`)
        .toHaveCount(0);
      if (role === 'stranger') {
        const text = await main.innerText();
        // All users can see the active rules and the number of processes.
        if (!TABS.includes(screen))
          expect.soft(EMPTY.exec(text)?.[0], `${role}, ${screen}: says that nothing is there`).toBeUndefined();
        if (screen === TABS[0]) await expect.soft(page.getByRole('tab', { name: 'Inbox' })).toHaveText('Inbox');
        if (WITHHELD.includes(screen))
          expect.soft(text, `${role}, ${screen}`).toContain('Ask root or an owner to grant it.');
      } else if (role !== 'owner') {
        const pressed = await pressable(page);
        expect
          .soft(
            forbidden.filter((name) => pressed.includes(name)),
            `${role}, ${screen}: can be pressed`,
          )
          .toEqual([]);
      }
      // Only requests for a resource in the address, which a stranger cannot view, can be rejected; the window sends no others that would be.
      if (role !== 'stranger' || !screen.includes('/'))
        expect.soft(refused, `${role}, ${screen}: requests that are refused`).toEqual([]);
      refused.length = 0;
      if (screen === 'containers' && role !== 'stranger')
        await expect.soft(main).toContainText('set to run without a container engine');
      await expect.soft(page.getByRole('contentinfo')).toContainText('no container engine');
      if (screen !== 'history') continue;
      // The window does not request hidden commits, or parts of commits that need permission to view everything.
      await page.getByRole('grid', { name: 'Commits' }).getByRole('row').nth(1).click();
      for (const tab of ['Change', 'World at this point', 'Since then']) {
        await page.getByRole('tab', { name: tab }).click();
        await waitUntilStill(page);
        await expect
          .soft(page.getByRole('button', { name: 'Try again' }), `${role}, ${tab} of a commit`)
          .toHaveCount(0);
        if (role === 'stranger' || tab !== 'Change')
          await expect.soft(page.getByRole('tabpanel')).toContainText('Ask root or an owner');
      }
      expect.soft(refused, `${role}, requests of a commit that are refused`).toEqual([]);
    }
  }
});

test('a viewer of an organization sees the pipeline runs that deploy there, and no projects', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await platform.open(page);
  await makeUser(platform, page, 'viewer');
  await makeUser(platform, page, 'stranger');
  const environments = await send<Named[]>(
    platform,
    page,
    'GET',
    '/meta/demo/environments?name=development&expand=true',
  );
  const start = (path: string, targetEnvironmentId?: string) => ({
    project: { id: 101, path },
    branch: 'feature/ferns',
    sha: 'a'.repeat(40),
    variables: { present: [], missing: [] },
    jobs: [{ name: 'build', stage: 'build', state: 'running' }],
    ...(targetEnvironmentId !== undefined && { targetEnvironmentId }),
  });
  await send(platform, page, 'POST', '/inspect/pipelines', start('elsewhere/app'));
  const visibleRun = await send<Named>(
    platform,
    page,
    'POST',
    '/inspect/pipelines',
    start('demo/app', environments[0]?.id),
  );
  const refused: string[] = [];
  page.on('response', (answer) => {
    if (answer.status() === 403) refused.push(new URL(answer.url()).pathname);
  });
  await platform.openAs(page, 'viewer', PASSWORD);
  await platform.open(page, `pipelines?sel=${visibleRun.id}`);
  const runs = page.getByRole('grid', { name: 'Runs' });
  await expect(runs.getByRole('row').filter({ hasText: 'feature/ferns' })).toHaveCount(1);
  await expect(page.getByRole('region', { name: 'Run', exact: true })).toContainText('demo/app');
  await expect(page.getByRole('region', { name: 'Projects' })).toBeHidden();
  expect(refused).toEqual([]);
  await platform.openAs(page, 'stranger', PASSWORD);
  await platform.open(page, 'pipelines');
  await expect(page.getByRole('main')).toContainText('You need the environment.view permission');
});
