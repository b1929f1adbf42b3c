import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { fill, pick, renderWindow } from '../../../testing/render-window.tsx';

const platform = sharedPlatform({ seed: 'demo' });

async function endpointAt(resource: string) {
  const { body } = await platform.root.get('/demo/apiendpoints?expand=true');
  return body.find(({ properties }: { properties: { resource: string } }) => properties.resource === resource);
}
async function lambdaNamed(name: string): Promise<string> {
  return (await platform.root.get(`/demo/lambdas?name=${name}`)).body[0].id;
}

describe('the endpoints of a lambda', () => {
  it('show and change the rate limit, the access and the response, and keep who may call', async () => {
    const { id } = await endpointAt('/lead');
    const { body: users } = await platform.root.get('/root/users?name=ada.byrne');
    const security = { enabled: false, users: [users[0].id] };
    await platform.root.patch(`/demo/resources/${id}`, [
      { op: 'add', path: '/properties/plugins/platformSecurity', value: security },
    ]);
    await renderWindow(platform, `lambdas/${await lambdaNamed('contact-form')}?tab=endpoints`);
    await screen.findByText(/Rate limit: 60 a minute · Access: everyone/);
    await userEvent.click(await screen.findByRole('button', { name: 'Change' }));
    const dialog = await screen.findByRole('dialog', { name: /^Change endpoint/ });
    await fill(dialog, 'Rate limit', '5');
    await pick(dialog, /Access/, 'Signed-in users');
    await userEvent.click(within(dialog).getByRole('switch', { name: /Asynchronous/ }));
    await userEvent.click(within(dialog).getByRole('button', { name: 'Save endpoint' }));
    await screen.findByText(/Rate limit: 5 a minute · Access: 1 user · asynchronous/);
    expect((await endpointAt('/lead')).properties).toMatchObject({
      synchronous: false,
      plugins: { rateLimit: { enabled: true, perMinute: 5 }, platformSecurity: { ...security, enabled: true } },
    });
  });

  it('are set with a new lambda', async () => {
    await renderWindow(platform, 'lambdas?new=lambda');
    const dialog = await screen.findByRole('dialog', { name: 'New lambda' });
    await fill(dialog, 'Name', 'signup');
    await fill(dialog, 'Public path', '/signup');
    await fill(dialog, 'Rate limit', '7');
    await waitFor(() =>
      expect(within(dialog).getByRole('button', { name: 'Create lambda' })).toHaveProperty('disabled', false),
    );
    await userEvent.click(within(dialog).getByRole('button', { name: 'Create lambda' }));
    await screen.findByText(/Rate limit: 7 a minute · Access: everyone/);
    expect((await endpointAt('/signup')).properties.plugins).toEqual({ rateLimit: { enabled: true, perMinute: 7 } });
  });
});
