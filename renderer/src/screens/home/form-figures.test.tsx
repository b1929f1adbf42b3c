import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it, onTestFinished } from 'vitest';
import { delay } from '../../../testing/delay.ts';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { renderWindow } from '../../../testing/render-window.tsx';
import { togglePause } from '../../api/live.ts';
import { queryClient } from '../../api/query-client.ts';

const platform = sharedPlatform({ seed: 'demo' });

it('shows no count of undelivered forms in the sidebar until the figures of a new scope have been read', async () => {
  await fetch(`${platform.emulator.gatewayUrl}/website/lead`, { method: 'POST', body: 'no JSON' });
  await renderWindow(platform, '');
  const sidebar = screen.getByRole('navigation', { name: 'Screens' });
  await within(sidebar).findByText('not delivered');
  const readFigures = delay('/inspect/figures');
  await userEvent.click(screen.getByRole('button', { name: /All organizations/ }));
  await userEvent.click(await screen.findByRole('menuitemradio', { name: 'demo' }));
  await waitFor(() => expect(within(sidebar).queryByText('not delivered')).toBeNull());
  readFigures();
  await within(sidebar).findByText('not delivered');
});

it('counts the form that the first step sends, also while live updates are paused', async () => {
  await renderWindow(platform, '');
  await screen.findByRole('heading', { name: 'First steps' });
  // What is read last can move the first steps.
  await waitFor(() => expect(queryClient.isFetching()).toBe(0));
  const inboxText = () => screen.getByRole('link', { name: /inbox$/ }).textContent;
  const textBefore = inboxText();
  await userEvent.click(screen.getByRole('button', { name: 'Pause live updates' }));
  onTestFinished(togglePause);
  await userEvent.click(screen.getByRole('button', { name: /^Send (the form|again)$/ }));
  await waitFor(() => expect(inboxText()).not.toBe(textBefore));
});
