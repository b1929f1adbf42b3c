import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.mjs';
import { renderWindow } from '../../testing/render-window.tsx';

const platform = sharedPlatform({ seed: 'demo' });
let executionId: string | null;

beforeAll(async () => {
  const payload = { firstName: 'Zoe', lastName: 'Quill', email: 'zoe@example.com' };
  const answer = await fetch(`${platform.emulator.gatewayUrl}/website/lead`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ payload }),
  });
  executionId = answer.headers.get('x-terrarium-execution-id');
});

async function search(query: string) {
  await renderWindow(platform, 'settings');
  const user = userEvent.setup();
  await user.keyboard('{Control>}k{/Control}');
  const palette = await screen.findByRole('dialog', { name: 'Commands and resources' });
  await user.click(within(palette).getByRole('searchbox'));
  await user.paste(query);
  const isComplete = () =>
    waitFor(() => expect(within(palette).getByRole('status').textContent).toMatch(/\d results?/));
  return { user, palette, isComplete };
}

describe('the palette', () => {
  it('shows an email address on its way from the form to the lead, and opens each step', async () => {
    const { user, palette, isComplete } = await search('zoe@example.com');
    await isComplete();
    const chain = within(palette).getByRole('group', { name: 'From the form to the lead' });
    const steps = within(chain).getAllByRole('option');
    for (const [at, name] of ['Form', 'Request', 'Invocation', 'CRM call', 'Lead'].entries())
      expect(steps[at]?.textContent).toMatch(new RegExp(`^${name}`));
    for (const kind of ['Leads: 1', 'Requests: 1', 'Invocations: 1', 'Outbound calls: 1'])
      within(palette).getByRole('group', { name: kind });
    await user.click(steps[3] ?? palette);
    await waitFor(() => expect(location.search).toContain(String(executionId)));
    expect(location.search).toContain('list=outbound');
  });

  it('says that there is no match only when everything was searched', async () => {
    const { palette, isComplete } = await search('xylophone');
    expect(palette.textContent).not.toContain('No match.');
    await isComplete();
    await within(palette).findByText('No match.');
  });

  it('runs, debugs, opens logs, invites, sends, and injects a fault', async () => {
    const { user, palette } = await search('contact-form');
    for (const name of ['Run contact-form', 'Debug contact-form', 'Open the logs of contact-form'])
      await within(palette).findByRole('option', { name });
    const box = within(palette).getByRole('searchbox');
    for (const [typed, name] of [
      ['invite', 'Invite a user'],
      ['send', 'Send a request to a public endpoint'],
      ['undo', 'Undo the last change'],
      ['restore', 'Restore an earlier moment of the world'],
      ['replay', 'Replay the newest invocation'],
      ['fault', 'Inject a fault into outbound calls'],
    ] as const) {
      await user.clear(box);
      await user.paste(typed);
      await within(palette).findByRole('option', { name });
    }
    await user.click(within(palette).getByRole('option', { name: 'Inject a fault into outbound calls' }));
    await screen.findByRole('dialog', { name: /rule/i });
  });
});
