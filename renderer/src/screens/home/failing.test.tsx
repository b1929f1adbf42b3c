import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';
import { WEB_FORM } from '../../../../server/model/web-form.ts';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { renderWindow } from '../../../testing/render-window.tsx';
import { load, send } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';

const platform = sharedPlatform({ seed: 'demo' });
const submit = (body: string) =>
  fetch(`${platform.emulator.gatewayUrl}/website/lead`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  });
const FORM = JSON.stringify(WEB_FORM);
const cardOf = async (text: RegExp) => {
  const failing = await screen.findByRole('region', { name: 'Failing' });
  const [card] = await within(failing).findAllByText(text, { selector: 'p' });
  const item = card?.closest('li');
  if (!item) throw new Error('the failure has no card');
  return within(item);
};

/** Changes the code of the demo's lambda, as root. */
async function changeCode(change: (code: string) => string): Promise<void> {
  const { body } = await platform.root.get('/demo/lambdas?name=contact-form&expand=true');
  const [{ id, properties }] = body;
  const code = change(Buffer.from(properties.code, 'base64').toString());
  await platform.root.patch(`/demo/lambdas/${id}`, [
    { op: 'replace', path: '/properties/code', value: Buffer.from(code).toString('base64') },
  ]);
}

describe('the card of a failure', () => {
  beforeEach(async () => {
    await submit(FORM);
  });

  it('offers to edit a request whose body is not JSON, and never to undo a change', async () => {
    await changeCode((code) => `${code}\n// changed\n`);
    await submit('{"payload": {"firstName": "Bob",}}');
    await renderWindow(platform, '');
    const card = await cardOf(/the request body is not valid JSON/);
    await userEvent.click(await card.findByRole('button', { name: 'Replay with edits' }));
    const dialog = await screen.findByRole('dialog', { name: /^Replay contact-form with another event/ });
    expect(screen.queryByRole('button', { name: /^Undo it/ })).toBeNull();
    expect(within(dialog).getByRole('button', { name: /^Replay/ })).toBeTruthy();
  });

  it('does not offer to undo a commit that is undone, only to replay', async () => {
    await changeCode(() => 'exports.run = async (event) => event.trimm();');
    await submit(FORM);
    await renderWindow(platform, '');
    const card = await cardOf(/trimm/);
    await card.findByRole('button', { name: 'Undo it, and replay the failed invocation' });
    const { newest } = await load('/inspect/history', { limit: 1 });
    await send('POST', `/inspect/history/${newest}/revert`);
    await queryClient.invalidateQueries();
    await waitFor(() => expect(card.queryByRole('button', { name: /Undo/ })).toBeNull());
    expect(card.getByText(new RegExp(`Commit ${newest} is undone\\.`))).toBeTruthy();
    expect(card.getByRole('button', { name: 'Replay the failed invocation' })).toBeTruthy();

    // The line that failed is in the code that ran, not in the current code.
    const [toInvocation] = card.getAllByRole('link', { name: 'contact-form' });
    if (toInvocation) await userEvent.click(toInvocation);
    const source = await screen.findByRole('region', { name: 'Source of the failure' });
    expect(within(source).getByText(/event\.trimm/)).toBeTruthy();
    await userEvent.click(within(source).getByRole('button', { name: 'Compare with the current code' }));
    await screen.findByRole('dialog', { name: 'The code that failed, and the current code' });
  });

  it('shows no line of the current code to a user who cannot see the code that failed', async () => {
    await changeCode(() => 'exports.run = async (event) => event.trimm();');
    await submit(FORM);
    const properties = { password: 'password-1' };
    const viewer = await platform.root.create('/root/users', { name: 'source-viewer', properties });
    const { id: demo } = (await platform.root.get('/demo')).body;
    await renderWindow(platform, '');
    await send('PUT', `/inspect/roles/${demo}`, { identities: [viewer.id], role: 'viewer' });
    const { commits } = await load('/inspect/history', { limit: 1, type: 'lambdas' });
    const viewAs = async (userId: string | null) => {
      await send('PUT', '/inspect/session/view-as', { userId });
      await queryClient.resetQueries();
    };
    await viewAs(viewer.id);
    const [toInvocation] = (await cardOf(/trimm/)).getAllByRole('link', { name: 'contact-form' });
    if (toInvocation) await userEvent.click(toInvocation);
    const sourceText = async () => (await screen.findByRole('region', { name: 'Source of the failure' })).textContent;
    await waitFor(async () => expect(await sourceText()).toMatch(/event\.trimm/));
    // A revert also restores the time of the lambda's last change.
    await viewAs(null);
    await send('POST', `/inspect/history/${commits[0]?.seq}/revert`);
    await viewAs(viewer.id);
    await waitFor(async () =>
      expect(await sourceText()).toMatch(/^Line 1, column \d+The lambda was changed after this invocation\./),
    );
    expect(await sourceText()).not.toMatch(/exports/);
  });

  it('names the rule that refused a connection, and disables it', async () => {
    await renderWindow(platform, '');
    const rule = { host: '{crm}', action: 'fail', error: 'ECONNREFUSED', enabled: true } as const;
    await send('PUT', '/inspect/outbound', { rules: [rule] });
    await submit(FORM);
    const card = await cardOf(/ECONNREFUSED/);
    expect(card.getByText(/^Caused by the outbound rule/)).toBeTruthy();
    // The window offers it once it knows that the user is root.
    await userEvent.click(
      await card.findByRole('button', { name: 'Disable the rule, and replay the failed invocation' }),
    );
    await screen.findByText('1 of 1 replay succeeded.');
    expect((await load('/inspect/outbound')).rules).toMatchObject([{ enabled: false }]);
  });
});
