import { WEB_FORM } from '../server/model/web-form.ts';
import { Gate } from '../server/testing/gate.ts';
import { expect, pressInTurn, test, type WindowPlatform } from './window.ts';

const sendForm = (platform: WindowPlatform, fields: object = {}) =>
  platform.call('/website/lead', { payload: { ...WEB_FORM.payload, ...fields } });

test('a query filters the list, a row opens its detail, and a replay is compared with its original', async ({
  page,
  platform,
}) => {
  await sendForm(platform);
  await platform.call('/website/orders/1001');
  await platform.open(page, 'invocations');
  const grid = page.getByRole('grid', { name: 'Invocations' });
  const rows = grid.getByRole('row');
  await expect(rows).toHaveCount(3);

  await page.keyboard.press('/');
  await page.keyboard.type('lambda:contact');
  await page.keyboard.press('Enter');
  await expect(rows).toHaveCount(2);
  expect(page.url()).toContain('q=lambda%3Acontact');

  await rows.nth(1).click();
  const detail = page.getByRole('region', { name: 'Invocation' }).or(page.getByLabel('Invocation', { exact: true }));
  await expect(page.getByText('"Analytical Engines"')).toBeVisible();
  // In a low window, it is collapsed to a line at first.
  await expect(page.getByRole('table', { name: 'Timing' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Show where the time went' }).click();
  await expect(page.getByRole('table', { name: 'Timing' })).toContainText('rate limit');
  await expect(detail.first()).toContainText('crm.example.com');

  const first = new URL(page.url()).searchParams.get('sel');
  await grid.focus();
  await page.keyboard.press('r');
  await expect(page.getByText('was replayed: ok')).toBeVisible();
  await expect.poll(() => new URL(page.url()).searchParams.get('sel')).not.toBe(first);
  expect(new URL(page.url()).searchParams.get('with')).toBe(first);
  await page.getByRole('tab', { name: 'Compare' }).click();
  await expect(page.getByRole('button', { name: /Compare with/ })).toBeVisible();
  await expect(page.getByText(`Left: ${first?.slice(0, 8)}`)).toBeVisible();
  await expect(page.locator('.cm-content').filter({ hasText: 'manual' })).toHaveCount(1);

  // The address contains the whole state of the page.
  await page.reload();
  await expect(page.getByRole('tab', { name: 'Compare' })).toHaveAttribute('aria-selected', 'true');
  const { body } = await platform.send(page, 'GET', '/inspect/leads');
  expect(body).toHaveLength(2);
});

test('an event can be edited before a replay', { tag: '@slow' }, async ({ page, platform }) => {
  await sendForm(platform);
  await platform.open(page, 'invocations');
  await page.getByRole('grid', { name: 'Invocations' }).getByRole('row').nth(1).click();
  await page.getByRole('button', { name: 'Replay with edits' }).click();
  const editor = page.getByRole('dialog').locator('.cm-content');
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  // Typed and submitted before the page can render again.
  await editor.evaluate(async (content) => {
    content.ownerDocument.execCommand(
      'insertText',
      false,
      '{"payload": {"firstName": "Grace", "lastName": "Hopper", "email": "g@example.com"}}',
    );
    await Promise.resolve();
    const { KeyboardEvent } = content.ownerDocument.defaultView;
    content.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', code: 'Enter', ctrlKey: true, bubbles: true }));
  });
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect
    .poll(async () => JSON.stringify((await platform.send(page, 'GET', '/inspect/leads')).body))
    .toContain('Hopper');
});

test('requests, outbound calls and log lines are lists; requests have no credentials, and all link to their invocation and its trace', {
  tag: '@slow',
}, async ({ page, platform }) => {
  await sendForm(platform);
  const { baseUrl } = platform.ready;
  const issued = await fetch(`${baseUrl}/security/root/oauth/issue`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'password', username: 'root', password: 'not-it' }),
  });
  expect(issued.status).toBeGreaterThanOrEqual(400);
  await platform.open(page, 'gateway');
  const grid = page.getByRole('grid', { name: 'Requests' });
  await grid.getByRole('row').nth(1).click();
  await expect(page.getByText('"Analytical Engines"')).toBeVisible();
  await page.getByRole('tab', { name: 'Response' }).click();
  await expect(page.getByRole('rowheader', { name: 'X-Terrarium-Execution-Id' })).toBeVisible();

  await page.getByRole('radio', { name: 'Management API' }).click();
  await grid.getByRole('row').filter({ hasText: '/oauth/issue' }).click();
  await page.getByRole('tab', { name: 'Request', exact: true }).click();
  await expect(page.getByText('password=%3Chidden%3E')).toBeVisible();
  await expect(page.getByText('not-it')).toBeHidden();

  await platform.open(page, 'home');
  await pressInTurn(page, 'g', 'o');
  const calls = page.getByRole('grid', { name: 'Outbound calls' });
  await expect(calls).toContainText('crm.example.com');
  await calls.getByRole('row').nth(1).click();
  await expect(page.getByRole('tab', { name: /^Outbound/ })).toHaveAttribute('aria-selected', 'true');
  await page.getByRole('link', { name: 'trace', exact: true }).click();
  await expect(page.getByRole('grid', { name: 'Invocations' }).getByRole('row')).toHaveCount(2);
  await page.getByRole('radio', { name: 'Log lines' }).click();
  await expect(page.getByRole('grid', { name: 'Log lines' }).getByRole('row').nth(1)).toBeVisible();
  expect(new URL(page.url()).searchParams.get('q')).toMatch(/^trace:[0-9a-f]{32}$/);
});

test('a running lambda is shown before it ends', { tag: '@slow' }, async ({ page, platform }) => {
  const gate = await Gate.open();
  await platform.open(page, 'invocations');
  const { body } = await platform.send(page, 'GET', '/meta/demo/lambdas?expand=true');
  const [lambda] = body as { id: string; properties: { parent: { id: string } } }[];
  const code = `exports.run = (event, context, callback) => {
    require('http').get('${gate.url}', (response) => response.resume().on('end', () => callback(null, 'late')));
  };`;
  const patched = await platform.send(page, 'PATCH', `/meta/demo/lambdas/${lambda?.id}`, [
    { op: 'replace', path: '/properties/code_type', value: 'inline' },
    { op: 'add', path: '/properties/code', value: code },
    { op: 'replace', path: '/properties/handler', value: 'run' },
  ]);
  expect(patched.status, JSON.stringify(patched.body)).toBe(200);
  const run = platform.send(page, 'POST', `/inspect/lambdas/${lambda?.id}/invoke`, {});
  const row = page.getByRole('grid', { name: 'Invocations' }).getByRole('row').nth(1);
  await expect(row).toContainText('running');
  await gate.waitForClients(1);
  gate.release();
  await run;
  await expect(row).toContainText('late');
  gate.stop();
});
