import { screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { delay } from '../../../testing/delay.ts';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { renderWindow } from '../../../testing/render-window.tsx';
import { queryClient } from '../../api/query-client.ts';

const platform = sharedPlatform({ seed: 'demo' });

it('keeps its suggestions and what is typed when the preselected resource arrives', async () => {
  const readLambdas = delay('/lambdas');
  await renderWindow(platform, 'lambdas?new=web-form');
  const box = await screen.findByRole('combobox', { name: 'In' });
  await userEvent.click(box);
  await screen.findByRole('option', { name: /^integration/ });
  readLambdas();
  await waitFor(() => expect(queryClient.isFetching()).toBe(0));
  await userEvent.keyboard('integ');
  expect(box).toHaveProperty('value', 'integ');
  await userEvent.click(await screen.findByRole('option', { name: /^integration/ }));
  expect(box).toHaveProperty('value', 'integration');
});
