import { act, screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.mjs';
import { fill, renderWindow } from '../../testing/render-window.tsx';
import { queryClient } from '../api/query-client.ts';
import { sessionHeaders } from '../api/session-key.ts';
import { sessionState } from '../api/session-state.ts';
import { toast } from '../components/toasts.tsx';
import { DraftStore } from '../draft-store.ts';

const platform = sharedPlatform({ seed: 'demo' });

const endSession = () => fetch('/inspect/session', { method: 'DELETE', headers: sessionHeaders() });

async function openFilledDialog(body: string) {
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Send a request' }));
  const dialog = await screen.findByRole('dialog', { name: 'Send a request' });
  await fill(dialog, 'Path', '/website/lead');
  await fill(dialog, 'Body', body);
  return { user, dialog };
}

it('a dialog keeps what was typed when the session ends, and works after the same user has signed in again', async () => {
  await renderWindow(platform, 'gateway');
  const body = '{"payload": {"email": "ada@example.com"}}';
  const { user, dialog } = await openFilledDialog(body);
  await endSession();
  void queryClient.invalidateQueries();
  const signIn = await screen.findByRole('alertdialog', { name: 'Sign in to Terrarium' });
  expect(signIn.textContent).toContain('Your session has ended');
  expect(signIn.matches('dialog[open]')).toBe(true);
  await waitFor(() => expect(signIn.contains(document.activeElement)).toBe(true));
  await user.keyboard('{Escape}{Control>}k{/Control}');
  expect(screen.queryByRole('dialog', { name: /palette|Commands/i })).toBeNull();
  await fill(signIn, 'Password', platform.emulator.rootCredentials.password ?? '');
  await user.click(within(signIn).getByRole('button', { name: 'Sign in' }));
  await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
  expect(within(dialog).getByLabelText<HTMLTextAreaElement>('Body').value).toBe(body);
  await user.click(within(dialog).getByRole('button', { name: 'Send' }));
  expect((await within(dialog).findByRole('region', { name: 'Response' })).textContent).toContain('200');
});

it('unsaved changes and messages are kept for the same user, and not shown to another one', async () => {
  await renderWindow(platform, 'settings');
  const first = sessionState.value;
  if (first.kind !== 'signed-in') throw new Error('no user is signed in');
  const drafts = new DraftStore<string>();
  const signInAgainAs = (userId: string) =>
    act(() => {
      sessionState.expire();
      sessionState.enter(userId);
    });
  drafts.keep('lambda', 'return 1;');
  act(() => toast({ tone: 'error', text: 'The code was not saved.' }));
  signInAgainAs(first.userId);
  expect(drafts.value.get('lambda')).toBe('return 1;');
  screen.getByText('The code was not saved.');
  signInAgainAs('vera');
  expect(drafts.value.size).toBe(0);
  expect(screen.queryByText('The code was not saved.')).toBeNull();
});
