import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
const inspect = (path: string, options: RequestInit = {}) => {
  const { apiKey, apiSecret } = platform.emulator.rootCredentials;
  const headers = { Authorization: `Basic ${btoa(`${apiKey}:${apiSecret}`)}`, 'Content-Type': 'application/json' };
  return fetch(`${platform.emulator.baseUrl}/inspect/${path}`, { headers, ...options });
};

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
  const { forms } = await (await inspect('forms?q=grace+is:limited')).json();
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

it('a form that a real CRM received is delivered, and shows its host and status', async () => {
  const crm = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(crm, 'listening');
  const host = `127.0.0.1:${(crm.address() as AddressInfo).port}`; // it listens
  const { body } = await platform.root.get('/demo/lambdas?expand=true');
  const { id } = body.find(({ name }: { name: string }) => name === 'order-status');
  const code = `export const run = async () => {
    const body = new URLSearchParams({ oid: '00D' });
    await fetch('http://${host}/servlet/servlet.WebToLead', { method: 'POST', body });
  }`;
  await platform.root.patch(`/demo/lambdas/${id}`, [
    { op: 'add', path: '/properties/code', value: code },
    { op: 'add', path: '/properties/env', value: { CRM_OID: '00D' } },
  ]);
  const rules = [{ host, action: 'pass', enabled: true }];
  await inspect('outbound', { method: 'PUT', body: JSON.stringify({ rules }) });
  const event = { payload: { firstName: 'Hedy', email: 'hedy@example.com' } };
  await inspect(`lambdas/${id}/invoke`, { method: 'POST', body: JSON.stringify(event) });
  crm.close();
  const { forms } = await (await inspect('forms?q=hedy')).json();
  await renderWindow(platform, `leads?q=hedy&sel=${forms[0].id}`);
  const detail = await screen.findByRole('region', { name: 'Lead' });
  expect(await within(detail).findByText('Delivered to a real CRM.')).toBeTruthy();
  expect(within(detail).getByText(`sent to ${host}, which responded with 200`)).toBeTruthy();
  expect(within(detail).getByRole('list', { name: 'From the form to the lead' }).textContent).toBe(
    'FormGatewayorder-statusCRM',
  );
});

it('a form whose body the CRM did not read says so, instead of that its fields are missing', async () => {
  await platform.root.patch(`/demo/apiendpoints/${endpointId}`, [
    { op: 'add', path: '/properties/plugins', value: {} },
  ]);
  await submit(JSON.stringify({ payload: { lastName: 'x'.repeat(300_000) } }));
  const { forms } = await (await inspect('forms')).json();
  const tooLarge = forms.find(({ stop }: { stop: string }) => stop === 'rejected');
  await renderWindow(platform, `leads?sel=${tooLarge.id}`);
  const detail = await screen.findByRole('region', { name: 'Lead' });
  expect(await within(detail).findByText('The CRM did not read the body, so its fields are unknown.')).toBeTruthy();
  expect(detail.textContent).not.toContain('the form does not have the field');
});
