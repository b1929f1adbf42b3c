import { screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { sharedPlatform } from '../../testing/platform.mjs';
import { renderWindow } from '../../testing/render-window.tsx';
import { load, send } from '../api/client.ts';
import { keys, queryClient } from '../api/query-client.ts';

const platform = sharedPlatform();

it('shows fault rules and the advanced clock in the top bar, and one button ends both', async () => {
  await renderWindow(platform, '');
  expect(screen.queryByRole('status', { name: 'Simulated faults and time' })).toBeNull();
  await send('POST', '/inspect/faults', { service: 'scm', status: 503 });
  await send('POST', '/inspect/clock', { advance: '90m' });
  await queryClient.invalidateQueries({ queryKey: [keys.simulation] });
  const badge = await screen.findByRole('status', { name: 'Simulated faults and time' });
  await waitFor(() => expect(badge.textContent).toBe('1 fault, clock +1 h 30 min'));
  expect(badge.title).toBe('scm: 503');
  await userEvent.click(screen.getByRole('button', { name: 'End simulated faults and time' }));
  await waitFor(() => expect(screen.queryByRole('status', { name: 'Simulated faults and time' })).toBeNull());
  expect(await load('/inspect/faults')).toEqual([]);
  expect(await load('/inspect/clock')).toMatchObject({ aheadMs: 0 });
});
