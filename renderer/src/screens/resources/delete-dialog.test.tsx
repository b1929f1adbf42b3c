import { screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { renderWindow } from '../../../testing/render-window.tsx';

const platform = sharedPlatform({ seed: 'demo' });

it('the dialog that deletes a lambda names the endpoints that stop working', async () => {
  const { body } = await platform.root.get('/demo/lambdas?name=contact-form');
  await renderWindow(platform, `resources/${body[0].id}`);
  await userEvent.click(await screen.findByRole('button', { name: 'Delete' }));
  const dialog = await screen.findByRole('alertdialog', { name: 'Delete lambda contact-form' });
  await waitFor(() =>
    expect(dialog.textContent).toContain('1 endpoint stops working and will return 503: /website/lead'),
  );
});
