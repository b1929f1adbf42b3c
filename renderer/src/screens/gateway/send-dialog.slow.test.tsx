import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { fill, renderWindow } from '../../../testing/render-window.tsx';

const platform = sharedPlatform({ seed: 'demo' });

it('starts with the payload of the lambda, saves under a name, asks before it replaces, and deletes', async () => {
  await renderWindow(platform, 'gateway');
  const user = userEvent.setup();
  const row = (await screen.findByText('/website/lead')).closest('tr') ?? document.body;
  await user.click(within(row).getByRole('button', { name: /^Send a request to/ }));
  const dialog = await screen.findByRole('dialog', { name: 'Send a request' });
  expect(within(dialog).getByLabelText<HTMLTextAreaElement>('Body').value).toContain('"payload"');

  const save = async (name: string) => {
    await user.click(within(dialog).getByRole('button', { name: 'Save' }));
    const naming = await screen.findByRole('dialog', { name: 'Save the request' });
    await fill(naming, 'Name', name);
    return naming;
  };
  await user.click(within(await save('A lead')).getByRole('button', { name: 'Save' }));
  const remove = await within(dialog).findByRole('button', { name: 'Delete the saved request A lead' });
  await fill(dialog, 'Path', '/website/other');
  const again = await save('A lead');
  within(again).getByText(/A lead already exists/);
  await user.click(within(again).getByRole('button', { name: 'Replace' }));
  await waitFor(() => expect(again.isConnected).toBe(false));
  await screen.findByText('A lead was saved for all users.');
  await user.click(remove);
  await waitFor(() => expect(within(dialog).queryByText('Saved requests')).toBeNull());
});
