import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { beforeAll, describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { renderWindow } from '../../../testing/render-window.tsx';

const platform = sharedPlatform({ seed: 'demo' });
const DELETED = 'This deletes 1 account: /grace.hopper. Their users cannot sign in until you undo it.';

beforeAll(() =>
  platform.root.create('/root/users', { name: 'grace.hopper', properties: { password: 'compiler-1906' } }),
);

describe('a dialog that replaces the world', () => {
  it('names the accounts that a restore of an earlier moment deletes', async () => {
    await renderWindow(platform, 'history?sel=0');
    await userEvent.click(await screen.findByRole('button', { name: 'Go back to this moment' }));
    const dialog = await screen.findByRole('alertdialog');
    await waitFor(() => expect(dialog.textContent).toContain(DELETED));
    expect(dialog.textContent).toMatch(/\d+ will be deleted/);
    // The button says that it deletes, not only that it restores.
    expect(within(dialog).getByRole('button', { name: /^Delete \d+ resources?\b/ })).toBeTruthy();
  });

  it('names the accounts that a restart of the demo deletes', async () => {
    await renderWindow(platform, 'history');
    const user = userEvent.setup();
    await user.keyboard('{Control>}k{/Control}');
    const palette = await screen.findByRole('dialog', { name: 'Commands and resources' });
    await user.click(within(palette).getByRole('searchbox'));
    await user.paste('restart');
    await user.click(await within(palette).findByRole('option', { name: 'Restart the demo' }));
    const dialog = await screen.findByRole('alertdialog', { name: 'Restart the demo' });
    await waitFor(() => expect(dialog.textContent).toContain(DELETED));
  });
});
