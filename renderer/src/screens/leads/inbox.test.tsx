import { screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { beforeAll, expect, it } from 'vitest';
import { sharedPlatform } from '../../../testing/platform.mjs';
import { fill, renderWindow } from '../../../testing/render-window.tsx';

const platform = sharedPlatform({ seed: 'demo' });
const submit = (body: string) =>
  fetch(`${platform.emulator.gatewayUrl}/website/lead`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  });

let endpointId = '';

beforeAll(async () => {
  const { body } = await platform.root.get('/demo/apiendpoints?expand=true');
  endpointId = body.find(({ properties }: { properties: { resource: string } }) => properties.resource === '/lead').id;
  await submit('{"payload": {"email": "grace@example.com",}}');
  await platform.root.patch(`/demo/apiendpoints/${endpointId}`, [
    { op: 'add', path: '/properties/plugins', value: { rateLimit: { enabled: true, perMinute: 1 } } },
  ]);
  const form = JSON.stringify({ payload: { firstName: 'Grace', email: 'grace@example.com' } });
  await submit(form);
  await submit(form);
});

it('a form that the rate limit stopped is found by its body, shows where it stopped, and can be sent again', async () => {
  const { apiKey, apiSecret } = platform.emulator.rootCredentials;
  const answer = await fetch(`${platform.emulator.baseUrl}/inspect/forms?q=grace+is:limited`, {
    headers: { Authorization: `Basic ${btoa(`${apiKey}:${apiSecret}`)}` },
  });
  const { forms } = await answer.json();
  await renderWindow(platform, `leads?q=grace&sel=${forms[0].id}`);
  expect(await screen.findByRole('button', { name: /1 delivered$/ })).toBeTruthy();
  expect(screen.getByRole('button', { name: /2 not delivered/ })).toBeTruthy();
  const detail = await screen.findByRole('region', { name: 'Lead' });
  expect(await within(detail).findByText('Not delivered: over the rate limit.')).toBeTruthy();
  expect(within(detail).getByRole('list', { name: 'From the form to the lead' }).textContent).toBe(
    'FormGateway: stopped here',
  );
  expect(within(detail).getByRole('link', { name: 'Raise the limit' })).toBeTruthy();
  // Its body was recorded, so it can be sent again.
  await userEvent.click(await within(detail).findByRole('button', { name: 'Send again' }));
  const dialog = await screen.findByRole('dialog');
  expect(within(dialog).getByDisplayValue(/grace@example\.com/)).toBeTruthy();
  await platform.root.patch(`/demo/apiendpoints/${endpointId}`, [{ op: 'remove', path: '/properties/plugins' }]);
  await fill(dialog, 'Body', JSON.stringify({ payload: { firstName: 'Grace', email: 'corrected@example.com' } }));
  // A saved request still repeats the rejected request.
  await userEvent.click(within(dialog).getByRole('button', { name: 'Save' }));
  const naming = await screen.findByRole('dialog', { name: 'Save the request' });
  await userEvent.click(within(naming).getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(naming.isConnected).toBe(false));
  await userEvent.click(within(dialog).getByRole('button', { name: 'Send' }));
  expect(await within(detail).findByText('Sent again and delivered.')).toBeTruthy();
});
